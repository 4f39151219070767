"""A second family in a plan: its nodes, its pods, its configuration and its admission."""

import json
from typing import Any

import pytest

from springtide.apps.planner import PlanReport, Request, run
from springtide.apps.planner.run import InvalidInput
from springtide.wire.documents import decode
from springtide.wire.source import Source
from tests.world import FirstRng, FixedClock

WORD = "Ascend910B3"
CHIP = {"id": "N", "count": 4, "devmem": 65536, "devcore": 20, "type": WORD, "health": True}
SOFT = {"huawei.com/vnpu-mode": "hami-core"}
Json = dict[str, Any]


def node(name: str, **annotations: str) -> Json:
    amounts = {"cpu": "8", "memory": "64Gi", "pods": "110"}
    notes = {f"hami.io/node-register-{WORD}": json.dumps([CHIP])} | annotations
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": notes},
        "status": {"allocatable": amounts, "capacity": amounts},
    }


def pod(name: str, **spec: object) -> Json:
    limits = {f"huawei.com/{WORD}": "1", f"huawei.com/{WORD}-memory": "32768"}
    resources = {"limits": limits, "requests": limits}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team", "uid": f"uid-{name}"},
        "spec": {"containers": [{"name": "main", "resources": resources}], **spec},
        "status": {"phase": "Pending"},
    }


def job(name: str, annotations: dict[str, str], **limits: int) -> Json:
    """Return a Job that is not in the cluster yet; `count`, `memory` and `core` of a chip."""
    names = {"count": "", "memory": "-memory", "core": "-core"}
    resources = {f"huawei.com/{WORD}{names[key]}": value for key, value in limits.items()}
    container = {"name": "main", "resources": {"limits": resources}}
    template = {"metadata": {"annotations": annotations}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"template": template},
    }


def plan(*objects: Json, config: Json | None = None) -> PlanReport:
    items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    given = [Source("cluster.json", json.dumps(items).encode())]
    if config is not None:
        given.append(Source("device-config.json", json.dumps(config).encode()))
    return run(decode(given), Request(), clock=FixedClock(), rng=FirstRng())


def fitting(report: PlanReport) -> list[tuple[str, str]]:
    return [(each.pod, each.node) for each in report.fitting]


def test_pods_go_to_nodes_with_free_chips() -> None:
    full = pod("full", nodeName="n1")
    full["status"]["phase"] = "Running"
    full["metadata"]["annotations"] = {
        "hami.io/vgpu-node": "n1",
        f"hami.io/{WORD}-devices-allocated": f"N,{WORD},65536,0:;",
    }

    report = plan(node("n1"), node("n2"), full, pod("p"))

    assert fitting(report) == [("team/p", "n2")]


def test_manifests_are_admitted_with_their_annotations() -> None:
    soft = job("soft", SOFT, count=1, memory=5000, core=30)

    report = plan(node("hard"), node("both", **{"hami-vnpu-core": "true"}), soft)

    assert fitting(report) == [("team/soft-0", "both")]


def test_a_manifest_that_the_webhook_denies_is_left_apart() -> None:
    report = plan(node("n1"), job("odd", {}, count=2, memory=16384))

    (odd,) = report.apart
    assert odd.pod == "team/odd-0"
    assert odd.reason == "would be denied at admission: vNPU not supported for multiple devices"


def test_the_device_configuration_decides_which_chips_there_are() -> None:
    without = plan(node("n1"), pod("p"), config={"nvidia": {}})
    name = f"huawei.com/{WORD}"
    chip = {"commonWord": WORD, "resourceName": name, "resourceMemoryName": f"{name}-memory"}
    with_chip = plan(node("n1"), pod("p"), config={"vnpus": {"configs": [chip]}})

    assert fitting(without) == []
    assert fitting(with_chip) == [("team/p", "n1")]


def test_a_configuration_that_makes_no_sense_is_named() -> None:
    with pytest.raises(InvalidInput) as fault:
        plan(node("n1"), pod("p"), config={"vnpus": {"hamiVnpuCore": "perhaps"}})

    assert str(fault.value).startswith("device-config.json: vnpus.hamiVnpuCore: expected `bool`")
