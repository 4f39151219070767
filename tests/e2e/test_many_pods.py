"""Many pods at once through an unmodified kube-scheduler: where they go, how they wait, and what stays behind."""

import json
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from springtide.apps.planner.families import Policies, families
from springtide.engine.live import Live, LiveSettings
from springtide.model.pod import Pod
from springtide.wire.k8s import Parts, decode_node, decode_pod
from tests.e2e import objects, ours
from tests.e2e.commands import Object, Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.crowds import PATIENT_S, a_cluster, create_all, create_nodes, metrics
from tests.e2e.fleets import running_fleet
from tests.e2e.waiting import eventually
from tests.standin.answering import Answering
from tests.standin.conduct import Conduct
from tests.standin.live import CARDS, gpu_node
from tools.soak import soak

NODES: Final = 50
PODS: Final = 500
TOGETHER: Final = 8
SOAKED: Final = 300
ALLOCATED: Final = "hami.io/vgpu-devices-allocated"
FAILED: Final = 'springtide_extender_binds_total{outcome="failed"}'
BOUND: Final = 'springtide_extender_binds_total{outcome="bound"}'
EXACT_S: Final = 0.01
"""So exactly the log says when a call came."""

pytestmark = pytest.mark.timeout(300)


def told(log: Path, event: str) -> list[dict[str, Any]]:
    """Return what the log has of an event."""
    lines = (json.loads(line) for line in log.read_text(encoding="utf-8").splitlines())
    return [each for each in lines if each["event"] == event]


def asking(number: int) -> Object:
    """Return a pod that asks for one of many things."""
    memory_mib = (1000, 2000, 5000, 8000, 20000)[number % 5]
    return ours.share_of_a_card(
        f"pod-{number}", memory_mib=memory_mib, cores=(0, 5, 10)[number % 3]
    )


def listed(plane: ControlPlane, path: str) -> list[Object]:
    items: list[Object] = plane.ask("GET", path)["items"]
    return items


def planned(nodes: list[Object], pods: list[Pod]) -> dict[str, tuple[str, str]]:
    """Return where the engine puts pods that come in this order: node and devices by name of the pod."""
    live, parts, now_s = Live(families(None, Policies(node="spread")), LiveSettings()), Parts(), 1.0
    for each in nodes:
        live.node_seen(decode_node(raw(each), parts), now_s=now_s)
    names = [each["metadata"]["name"] for each in nodes]
    found = {}
    for pod in pods:
        answer = live.filter(pod, names, now_s=now_s)
        assert answer.patch is not None, answer
        found[pod.name] = (answer.node or "", answer.patch.annotations[ALLOCATED] or "")
    return found


def raw(value: Object) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode())


def test_500_pods_over_50_nodes_go_where_the_engine_plans_them(
    planes: Planes, tmp_path: Path
) -> None:
    port, log = ours.free_port(), tmp_path / "extender.log"
    setup = Setup(has_controllers=True, extenders=(ours.configured(port),), grace_s=PATIENT_S)
    plane = planes(setup)
    options = ["--node-scheduler-policy=spread"]

    with ours.extender(plane, port, log, options=options), a_cluster(plane) as (cluster, aside):
        create_nodes(plane, NODES)
        ours.wait_for_devices(port, NODES * CARDS)
        before = {each["metadata"]["name"]: each for each in listed(plane, objects.NODES)}
        plugins = Answering(cluster)
        aside.start(plugins.run())
        create_all(plane, objects.PODS, [asking(number) for number in range(PODS)])
        eventually(lambda: len(plugins.bound_s), lambda count: count == PODS)
        seen = metrics(port)

    found = {each["metadata"]["uid"]: each for each in listed(plane, objects.PODS)}
    calls = told(log, "filter")
    parts = Parts()
    in_order = [decode_pod(raw(unwritten(found[each["uid"]])), parts) for each in calls]
    assert {each["candidates"] for each in calls} == {NODES}
    assert len(in_order) == PODS
    assert seen.get(FAILED, 0.0) == 0
    assert planned(list(before.values()), in_order) == {
        each["metadata"]["name"]: (
            each["spec"]["nodeName"],
            each["metadata"]["annotations"][ALLOCATED],
        )
        for each in found.values()
    }


def unwritten(stored: Object) -> Object:
    """Return a pod as it was before it was scheduled."""
    metadata = {**stored["metadata"], "annotations": {}}
    return {**stored, "metadata": metadata, "spec": {**stored["spec"], "nodeName": ""}}


def test_8_pods_that_want_one_node_at_once_get_it_one_after_the_other(
    planes: Planes, tmp_path: Path
) -> None:
    port, log = ours.free_port(), tmp_path / "extender.log"
    plane = planes(Setup(has_controllers=True, extenders=(ours.configured(port),)))
    bodies = [ours.share_of_a_card(f"pod-{n}", memory_mib=1000, cores=5) for n in range(TOGETHER)]

    with running_fleet(plane, [gpu_node("only", cards=2)]) as fleet:
        # The lock is held for long enough that all others are there meanwhile.
        fleet.order("only", Conduct(allocate_s=0.3))
        with ours.extender(plane, port, log):
            create_all(plane, objects.PODS, bodies)
            found = eventually(
                lambda: objects.phases(plane),
                lambda found: len(found) == TOGETHER and set(found.values()) == {"Running"},
            )
            seen = metrics(port)

    binds = told(log, "bind")
    begun_s = [
        datetime.fromisoformat(each["time"]).timestamp() - each["took_ms"] / 1e3 for each in binds
    ]
    waited = [each for each in binds if each["took_ms"] > 300]
    assert len(found) == TOGETHER
    assert (seen[BOUND], seen.get(FAILED, 0.0)) == (TOGETHER, 0.0)
    assert len(waited) >= TOGETHER - 2
    assert all(one <= next_ + EXACT_S for one, next_ in pairwise(begun_s))


def test_pods_that_come_and_go_leave_nothing_behind(programs: Path, tmp_path: Path) -> None:
    came = soak(programs, tmp_path, pods=SOAKED, tell=print)

    assert came.left == {}
    assert came.outcomes[BOUND] >= SOAKED * 0.8
