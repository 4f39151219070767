"""What members export is what their leader asks for: through a real Prometheus, if it is on the path."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from springtide.edge.machine import MachineCalendar
from springtide.engine.replicas.queries import AGE_ROW, COUNT_ROW, ROW_LABEL, VALUE_ROW, joint_query
from springtide.engine.replicas.setup import asking, policies
from springtide.model.replicas.policy import Aggregation, Operator, Policy
from tests.member_exports import LEADER, SETTINGS, Scraped
from tests.prometheus_program import asked, real

MEMBERS: Final = 3
SUM: Final = Aggregation(operator=Operator.SUM)
ASKED: Final = replace(
    SETTINGS,
    built_in=(
        Policy(name="hpa_rule_cpu", unit="permillage"),
        Policy(name="hpa_rule_memory", unit="bytes"),
        Policy(name="hpa_rule_recent_max_task_count", unit="count"),
    ),
    custom=(Policy(name="rooms", aggregation=SUM), Policy(name="sent", unit="By", aggregation=SUM)),
)


def member(index: int) -> Scraped:
    """Return one member that has used something, at the time that it really is."""
    scraped = Scraped(replace(LEADER, name=f"chat-{index}"), ASKED, calendar=MachineCalendar())
    scraped.hand.passed_s = 10
    scraped.used.processor, scraped.used.resident = 5.0, 1 << 20
    scraped.tasks.seen(4)
    for name, value in (("rooms", 100), ("sent", 7)):
        scraped.observers.add(name, partial(int, value))
    return scraped


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a Prometheus answers that has scraped all members."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("there is no prometheus on the path")
    folder: Path = tmp_path_factory.mktemp("prometheus")
    text = "".join(member(index).page() for index in range(MEMBERS))
    with real(program, folder, text) as found:
        yield found


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("hpa_rule_cpu", 500 * MEMBERS),
        ("hpa_rule_memory", MEMBERS << 20),
        ("hpa_rule_recent_max_task_count", 4 * MEMBERS),
        ("rooms", 100 * MEMBERS),
        ("sent", 7 * MEMBERS),
    ],
)
def test_the_leader_finds_the_total_the_count_and_the_age(
    url: str, name: str, total: float
) -> None:
    policy = next(each for each in policies(ASKED) if each.name == name)

    found = asked(url, joint_query(policy, asking(ASKED)))

    rows = {each.metric[ROW_LABEL]: float(each.value[1]) for each in found.elements}
    assert rows.keys() == {VALUE_ROW, COUNT_ROW, AGE_ROW}
    assert rows[VALUE_ROW] == total
    assert rows[COUNT_ROW] == MEMBERS
    assert 0 <= rows[AGE_ROW] < 60


def test_replicas_and_floor_are_found_by_the_workload(url: str) -> None:
    matched = '{hpa_target_name="chat",hpa_target_kind="StatefulSet"}'

    replicas = asked(url, f"max(hpa_expect_replicas{matched})").elements
    floors = asked(url, f"max(hpa_stateful_index{matched})").elements

    assert [each.value[1] for each in (*replicas, *floors)] == ["5", "1"]
