"""What the adapter relies on of Prometheus, held by a real one (if it is on the path) and by the stand-in alike."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import pytest

from springtide.apps.adapter.queries import MARK, query, query_of, steps_to_samples
from springtide.edge.machine import MachineCalendar, MachineClock
from springtide.edge.prometheus import Malformed, Refused, Unreachable
from springtide.engine.metrics import Table
from springtide.model.replicas.matcher import Matcher
from tests.adapting import EXPECTED, E
from tests.e2e.waiting import eventually
from tests.promapi import PromApi, Reply, prometheus
from tests.prometheus_program import asked, real

PAGE: Final = """
hpa_expect_replicas{k8s_namespace_name="game",hpa_target_name="chat",pod="chat-0"} 8
hpa_expect_replicas{k8s_namespace_name="game",hpa_target_name="chat",pod="chat-1"} 10.5
hpa_expect_replicas{k8s_namespace_name="game",hpa_target_name="lobby",pod="lobby-0"} NaN
hpa_expect_replicas{k8s_namespace_name="game",pod="stray-0"} 3
"""
TWICE: Final = (
    'hpa_expect_replicas_count{k8s_namespace_name="game",hpa_target_name="chat",pod="chat-0"} 8\n'
)

Start = Callable[[str], str]
"""Takes what pods export, and returns where Prometheus answers about it."""


@contextmanager
def standin(text: str) -> Iterator[str]:
    """Run the stand-in with the samples of a page."""
    api = PromApi()
    for line in text.strip().splitlines():
        name, _, rest = line.partition("{")
        labels, _, value = rest.partition("} ")
        pairs = dict(each.split("=") for each in labels.split(","))
        bare = {key: quoted.strip('"') for key, quoted in pairs.items()}
        api.put(name, value, age_s=0.0, instance="x", job="pods", **bare)
    with prometheus(api):
        yield api.url


@pytest.fixture(params=["standin", "real"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Start]:
    """What starts one of the two."""
    program = shutil.which("prometheus")
    if request.param == "real" and program is None:
        pytest.skip("there is no prometheus on the path")
    with ExitStack() as stack:
        yield lambda text: stack.enter_context(
            standin(text) if request.param == "standin" else real(program or "", tmp_path, text)
        )


def table(url: str) -> Table:
    """Return the table of what is expected."""
    steps = steps_to_samples(
        EXPECTED,
        asked(url, query_of(EXPECTED)),
        unix_s=MachineCalendar().unix_s(),
        seen_s=MachineClock().monotonic_s(),
    )
    while True:
        try:
            next(steps)
        except StopIteration as done:
            made: Table = done.value
            return made


def test_one_query_has_the_samples_of_all_workloads_and_when_they_were_taken(start: Start) -> None:
    found = table(start(PAGE))

    values = {
        place: sorted(each.text for each in samples) for place, samples in found.samples.items()
    }
    assert values == {("game", "chat"): ["10.5", "8"], ("game", "lobby"): ["NaN"]}
    assert found.names == (E,)
    ages = [found.unix_s - each.unix_s for samples in found.samples.values() for each in samples]
    assert all(-1 <= age <= 30 for age in ages)
    assert abs(found.unix_s - time.time_ns() / 1e9) < 30


def test_a_metric_by_two_names_is_seen_to_have_both(start: Start) -> None:
    url = start(PAGE + TWICE)

    found = eventually(lambda: table(url).names, lambda names: len(names) > 1)

    assert found == (E, f"{E}_count")


def test_a_query_of_one_workload_has_its_samples_alone(start: Start) -> None:
    matchers = (Matcher(label="hpa_target_name", value="chat"),)

    found = asked(start(PAGE), query((E, f"{E}_count"), matchers)).elements

    values = [each.value[1] for each in found if MARK not in each.metric]
    assert sorted(values) == ["10.5", "8"]
    assert {each.metric["hpa_target_name"] for each in found} == {"chat"}
    assert len(found) == 4


def test_nothing_is_nothing(start: Start) -> None:
    url = start(PAGE)

    found = asked(
        url, 'nothing{a!=""} or label_replace(timestamp(nothing{a!=""}), "b", "c", "", "")'
    )

    assert found.elements == []


@pytest.mark.parametrize(
    ("reply", "fault", "word"),
    [
        (Reply(status=422, body=b'{"status":"error","errorType":"execution","error":"many"}'), Refused, "execution"),
        (Reply(status=400, body=b'{"status":"error","errorType":"bad_data","error":"x"}'), Refused, "bad_data"),
        (Reply(status=401, body=b"no"), Refused, "http_401"),
        (Reply(status=302, body=b""), Refused, "http_302"),
        (Reply(status=200, body=b"<html>"), Malformed, "JSON"),
        (Reply(body=b'{"status":"success","data":{"resultType":"matrix","result":[]}}'), Malformed, "matrix"),
        (Reply(body=b'{"status":"success"}'), Malformed, "data"),
        (
            Reply(body=b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"histogram":[1,{}]}]}}'),
            Malformed,
            "value",
        ),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_told(reply: Reply, fault: type[Exception], word: str) -> None:
    api = PromApi()
    api.fails_with = reply
    with prometheus(api), pytest.raises(fault) as told:
        asked(api.url, "x")

    assert word in str(told.value)


def test_a_scalar_is_one_value_without_labels() -> None:
    api = PromApi()
    api.fails_with = Reply(
        body=b'{"status":"success","data":{"resultType":"scalar","result":[1.5,"3"]}}'
    )

    with prometheus(api):
        (found,) = asked(api.url, "3").elements

    assert (found.metric, found.value) == ({}, (1.5, "3"))


def test_nobody_there_is_told() -> None:
    with pytest.raises(Unreachable):
        asked("http://127.0.0.1:9", "x")
