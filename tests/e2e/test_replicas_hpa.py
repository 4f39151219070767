"""The real controllers of autoscalers and StatefulSets, by the rows of the tables: what they do is held against
the stand-ins, and with our metrics no pod that holds state is deleted.

All rows of arithmetic run side by side on one control plane; pods are of stand-in kubelets.
"""

import signal
import time
from collections.abc import Iterator
from typing import Final
from urllib.error import HTTPError

import pytest

from tests.e2e import crews
from tests.e2e.autoscaling import (
    ACCOUNT,
    DEPLOY,
    FAST,
    RECORDED,
    SCALERS,
    SETS,
    E,
    Ours,
    S,
    adapter,
    condition,
    export,
    register,
    settles,
    stateful_set,
    value,
)
from tests.e2e.commands import Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.crews import Shown
from tests.e2e.fleets import running_fleet
from tests.e2e.objects import PODS
from tests.e2e.rights import grant
from tests.e2e.sparing import sparing, standing
from tests.e2e.stateful import (
    CALM_S,
    begin,
    end,
    has_ready,
    is_available,
    pods,
    ready,
    scale,
    stand,
    stays,
)
from tests.e2e.waiting import eventually, steadily
from tests.promapi import PromApi, prometheus
from tests.serving import serving
from tests.standin.conduct import STOP_S
from tests.standin.hpa_rows import ROWS
from tests.standin.live import gpu_node
from tests.standin.statefulset import Delete, Gone, Order, Readied, Scaled, running, step

MANAGER: Final = "kube-controller-manager"
BUDGETS: Final = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
MAPS: Final = "/api/v1/namespaces/default/configmaps"
BEYOND_S: Final = 120.0
TOO_MANY: Final = 429
ROWS_S: Final = 90.0
"""The slowest row waits for two periods of 15 s and one of 30 s."""

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def api() -> Iterator[PromApi]:
    """What the adapter asks for samples."""
    with prometheus() as found:
        yield found


@pytest.fixture(scope="module")
def plane(planes: Planes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with nodes for pods."""
    found = planes(Setup(has_controllers=True, users=ACCOUNT, controller_flags=FAST))
    grant(found, DEPLOY / "replicas-adapter" / "rbac.yaml")
    reader = tmp_path_factory.mktemp("rights") / "records-reader.yaml"
    text = (DEPLOY / "replicas" / "records-reader.yaml").read_text(encoding="utf-8")
    reader.write_text(text.replace("chat", "kept"), encoding="utf-8")
    grant(found, reader)
    crews.define(found)
    with running_fleet(found, [gpu_node("a"), gpu_node("b")]):
        yield found


@pytest.fixture(scope="module")
def ours(plane: ControlPlane, api: PromApi) -> Iterator[Ours]:
    """Our adapter behind it; what it does not serve itself is as the rows want it."""
    with serving(crews.answer) as upstream:
        found = adapter(plane, api, upstream=upstream.url)
        register(plane, found.port)
        yield found


@pytest.fixture(scope="module")
def rows(plane: ControlPlane, ours: Ours) -> dict[str, Shown]:
    """What became of all rows."""
    assert ours.port
    for name, row in crews.BY_SLUG.items():
        crews.create(plane, name, row)
    wanted = {name: crews.simulated(row) for name, row in crews.BY_SLUG.items()}
    recorder = crews.Recorder(plane, crews.BY_SLUG)
    end_s = time.monotonic() + ROWS_S
    while recorder.look() != wanted and time.monotonic() < end_s:
        time.sleep(0.2)
    found = steadily(recorder.look, bool, for_s=CALM_S)
    for name in crews.BY_SLUG:
        plane.ask("DELETE", f"{SCALERS}/{name}")
    return found


@pytest.fixture(scope="module")
def raw(plane: ControlPlane, ours: Ours, api: PromApi) -> tuple[float, str]:
    """When a workload was first asked about whose indices are ordinals and one, from 5 on, and the answer."""
    assert ours.port
    body = stateful_set("raw", 4)
    body["spec"]["ordinals"] = {"start": 5}
    plane.create(SETS, body)
    has_ready(plane, "raw", 4)
    export(api, "raw", 4, [6, 7, 8, 9])
    found = eventually(lambda: value(plane, S, "raw"), lambda said: said == "9")
    return time.monotonic(), found


@pytest.fixture(autouse=True)
def begun(raw: tuple[float, str]) -> None:
    """Let what takes two minutes begin before anything else."""
    assert raw


@pytest.mark.parametrize("name", ROWS)
def test_the_real_controller_does_as_the_stand_in(name: str, rows: dict[str, Shown]) -> None:
    """Covers R-39 in part, R-40, R-45 in part."""
    row = ROWS[name]

    assert rows[crews.slug(name)] == crews.simulated(row)
    assert row.replicas in rows[crews.slug(name)].written


def test_k_1_no_pod_that_holds_state_is_ever_deleted(plane: ControlPlane, api: PromApi) -> None:
    """Covers R-36, R-39."""
    with sparing(plane, "rooms") as watched:
        begin(plane, api, "rooms", 12, E, S)
        watched.holding = pods("rooms", *range(12))

        for kept in (12, 11, 10):
            watched.holding = pods("rooms", *range(kept))
            export(api, "rooms", 10, [*range(1, kept + 1), *[0] * (12 - kept)])
            settles(plane, "rooms", kept)
            stays(plane, "rooms", kept)

        assert (value(plane, E, "rooms"), value(plane, S, "rooms")) == ("10", "10")
    end(plane, "rooms")


def test_what_is_written_down_keeps_members_that_are_not_scraped(
    plane: ControlPlane, api: PromApi
) -> None:
    """Covers R-58 in part."""
    records = {"metadata": {"name": "kept-hpa-records"}, "data": dict.fromkeys("12345", "{}")}
    plane.create(MAPS, records)
    with sparing(plane, "kept") as watched:
        begin(plane, api, "kept", 5, E, RECORDED)
        watched.holding = pods("kept", *range(5))

        export(api, "kept", 2, [1, 2])
        stays(plane, "kept", 5)
        said = value(plane, RECORDED, "kept"), value(plane, S, "kept")
        watched.holding = pods("kept", *range(3))
        drained = {"data": {"4": None, "5": None}}
        plane.ask("PATCH", f"{MAPS}/kept-hpa-records", drained, content_type=crews.MERGE)
        settles(plane, "kept", 3)
        stays(plane, "kept", 3)

        assert said == ("5", "503")
    end(plane, "kept")


def test_a_shrinking_goes_by_its_stages(plane: ControlPlane, api: PromApi) -> None:
    """Covers R-36 in part, R-44 in part. The table of one shrinking from 12 to 10, a minute in a few seconds."""
    whole = list(range(1, 13))
    stages = [
        ("committed", 12, whole, 12),
        ("migrating", 12, whole, 12),
        ("waiting, the last one drained", 12, [*whole[:11], 0], 12),
        ("done, the one before it holds state", 10, [*whole[:11], 0], 11),
        ("both drained", 10, [*whole[:10], 0, 0], 10),
    ]
    with sparing(plane, "stages") as watched:
        begin(plane, api, "stages", 12, E, S)

        for stage, expected, indices, number in stages:
            watched.holding = pods("stages", *(each - 1 for each in indices if each))
            export(api, "stages", expected, indices)
            settles(plane, "stages", number)
            stays(plane, "stages", number)
            assert stage
    end(plane, "stages")


@pytest.mark.parametrize("order", ["OrderedReady", "Parallel"])
def test_k_2_and_k_3_pods_are_deleted_as_by_the_stand_in(plane: ControlPlane, order: Order) -> None:
    name = order.lower()
    body = stateful_set(name, 5)
    body["spec"]["podManagementPolicy"] = order
    body["spec"]["template"]["metadata"]["annotations"] = {STOP_S: "4"}
    body["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 60
    plane.create(SETS, body)
    has_ready(plane, name, 5)
    whole, found = pods(name, *range(5)), running(5, order=order)

    ready(plane, f"{name}-1", is_ready=False)
    scale(plane, name, 3)
    found, _ = step(found, Readied(1, is_ready=False))
    found, first = step(found, Scaled(3))
    gone = pods(name, *(each.ordinal for each in first if isinstance(each, Delete)))
    stand(plane, name, whole - gone)
    # Pods that are on their way out still count.
    counted = plane.ask("GET", f"{SETS}/{name}")["status"]["replicas"]
    ready(plane, f"{name}-1", is_ready=True)
    found, second = step(found, Readied(1))

    assert counted == 5
    assert (len(first), len(second)) == ((0, 1) if order == "OrderedReady" else (2, 0))
    for each in second:
        left = whole - gone - pods(name, each.ordinal)
        stand(plane, name, left)
        found, then = step(found, Gone(each.ordinal))
        assert [type(follow) for follow in then] == [Delete]
    has_ready(plane, name, 3)
    plane.ask("DELETE", f"{SETS}/{name}")


def test_k_4_indices_count_from_where_ordinals_start(plane: ControlPlane, api: PromApi) -> None:
    """Covers R-37 in part."""
    begin(plane, api, "fifth", 4, E, S, ordinals={"start": 5})

    export(api, "fifth", 3, [1, 2, 3, 4])
    stays(plane, "fifth", 4)
    assert value(plane, S, "fifth") == "4"
    export(api, "fifth", 3, [1, 2, 3, 0])
    settles(plane, "fifth", 3)

    path = f"{PODS}?labelSelector=app%3Dfifth"
    assert standing(plane, path) == pods("fifth", 5, 6, 7)
    end(plane, "fifth")


def test_k_4_an_index_that_counts_from_elsewhere_is_refused_after_two_minutes(
    plane: ControlPlane, raw: tuple[float, str]
) -> None:
    """Covers R-37 in part. The row M-19, too."""
    since_s, first = raw

    # The two minutes begin anew where another test had the adapter restarted.
    said = eventually(
        lambda: value(plane, S, "raw"), lambda found: found != first, limit_s=BEYOND_S + 30
    )

    assert (first, said) == ("9", "503")
    assert time.monotonic() - since_s >= BEYOND_S


def test_k_5_a_budget_does_not_keep_a_pod_from_being_scaled_away(
    plane: ControlPlane, api: PromApi
) -> None:
    begin(plane, api, "budget", 5, E)
    spec = {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "budget"}}}
    plane.create(BUDGETS, {"metadata": {"name": "budget"}, "spec": spec})
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "budget-4", "namespace": "default"},
    }
    eventually(
        lambda: plane.ask("GET", f"{BUDGETS}/budget").get("status", {}).get("expectedPods"),
        lambda found: found == 5,
    )

    with pytest.raises(HTTPError) as refused:
        plane.create(f"{PODS}/budget-4/eviction", eviction)
    export(api, "budget", 4)
    settles(plane, "budget", 4)

    refused.value.close()
    assert refused.value.code == TOO_MANY
    end(plane, "budget")


def test_f_20_without_an_adapter_nothing_moves_and_that_can_be_seen(
    plane: ControlPlane, api: PromApi, ours: Ours
) -> None:
    """Covers R-46 in part, R-50 in part."""
    begin(plane, api, "alone", 6, E, S)

    ours.kill()
    export(api, "alone", 2, [1, 2, 0, 0, 0, 0])
    failed = eventually(
        lambda: condition(plane, "alone"), lambda found: found["reason"] != "ValidMetricFound"
    )
    is_available(plane, "False")
    stays(plane, "alone", 6)
    ours.again()
    is_available(plane, "True")
    settles(plane, "alone", 2)

    assert (failed["status"], failed["reason"]) == ("False", "FailedGetExternalMetric")
    end(plane, "alone")


def test_f_22_a_metric_that_fails_keeps_it_from_shrinking_but_not_from_growing(
    plane: ControlPlane, api: PromApi
) -> None:
    begin(plane, api, "shrinking", 6, E, S)
    begin(plane, api, "growing", 6, E, S)

    export(api, "shrinking", None, [1, 2, 3, 0, 0, 0])
    export(api, "growing", 8)
    settles(plane, "growing", 8)
    failed = eventually(
        lambda: condition(plane, "shrinking"), lambda found: found["status"] == "False"
    )
    stays(plane, "shrinking", 6)

    assert failed["reason"] == "FailedGetExternalMetric"
    assert condition(plane, "growing")["status"] == "True"
    end(plane, "shrinking")
    end(plane, "growing")


def test_f_24_a_controller_that_is_killed_in_the_middle_takes_no_state_away(
    plane: ControlPlane, api: PromApi
) -> None:
    """Covers R-47 in part."""
    with sparing(plane, "torn") as watched:
        begin(plane, api, "torn", 8, E, S)
        watched.holding = pods("torn", *range(8))
        export(api, "torn", 3, range(1, 9))
        stays(plane, "torn", 8)

        plane.stop(MANAGER, how=signal.SIGKILL)
        watched.holding = pods("torn", *range(5))
        export(api, "torn", 3, [1, 2, 3, 4, 5, 0, 0, 0])
        stays(plane, "torn", 8)
        plane.start(MANAGER)
        settles(plane, "torn", 5)
        stays(plane, "torn", 5)
    end(plane, "torn")
