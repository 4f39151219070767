"""Claims of devices in a plan: judged where the input has what they refer to."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from springtide.apps.planner import PlanReport, Request, run
from springtide.wire.documents import decode
from springtide.wire.source import Source
from tests.world import FirstRng, FixedClock

DRIVER = "gpu.example.com"
API = "resource.k8s.io/v1"
GROUPS = {
    "apiVersion": "springtide.io/v1alpha1",
    "kind": "NodeGroups",
    "groups": [{"name": "a", "maxSize": 5, "nodeSelector": {"matchLabels": {"zone": "a"}}}],
}
CLASS = {
    "apiVersion": API,
    "kind": "DeviceClass",
    "metadata": {"name": "gpu"},
    "spec": {
        "selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}],
        "extendedResourceName": "example.com/gpu",
    },
}
TWO_MODELS = ("a100", "l4")


def node(name: str = "a-1", zone: str = "a") -> dict[str, Any]:
    status = {"allocatable": {"cpu": "16", "memory": "8Gi", "pods": "20"}}
    metadata = {"name": name, "labels": {"zone": zone, "kubernetes.io/hostname": name}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


def sliced(
    where: dict[str, Any] | str = "a-1", models: Sequence[str] = TWO_MODELS
) -> dict[str, Any]:
    """Return a slice for a node, or for whatever nodes are described."""
    scope = {"nodeName": where} if isinstance(where, str) else where
    pool = where if isinstance(where, str) else "net"
    devices = [
        {"name": f"d{index}", "attributes": {"model": {"string": model}}}
        for index, model in enumerate(models)
    ]
    spec = {
        "driver": DRIVER,
        "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1},
        "devices": devices,
        **scope,
    }
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": pool}, "spec": spec}


def content(count: int = 1, model: str = "") -> dict[str, Any]:
    expression = f'device.attributes["{DRIVER}"].model == "{model}"'
    selectors = [{"cel": {"expression": expression}}] if model else []
    exactly = {"deviceClassName": "gpu", "count": count, "selectors": selectors}
    return {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}


def template(asked: dict[str, Any] | None = None) -> dict[str, Any]:
    metadata = {"name": "t", "namespace": "default"}
    spec = {"spec": asked or content()}
    return {"apiVersion": API, "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": spec}


def claim(name: str = "mine", *, device: str = "") -> dict[str, Any]:
    """Return a claim, with a device of the node `a-1` if one is named."""
    result = {"request": "gpu", "driver": DRIVER, "pool": "a-1", "device": device}
    given = {"allocation": {"devices": {"results": [result]}}} if device else {}
    metadata = {"name": name, "namespace": "default", "uid": name}
    return {
        "apiVersion": API,
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": content(),
        "status": given,
    }


def pod(
    name: str = "p", on: str = "", daemon: str = "", requests: Any = None, **source: str
) -> dict[str, Any]:
    """Return a pod that claims devices from this source."""
    owner = {"kind": "DaemonSet", "name": daemon, "uid": daemon, "controller": True}
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": name,
        "ownerReferences": [owner] if daemon else [],
    }
    claims = [{"name": "gpu", **source}] if source else []
    main = {"name": "main", "resources": {"requests": requests or {}}}
    spec = {"nodeName": on, "containers": [main], "resourceClaims": claims}
    status = {"phase": "Running" if on else "Pending"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def pods(count: int, **source: str) -> list[dict[str, Any]]:
    return [pod(f"p{index}", **source) for index in range(count)]


FROM_TEMPLATE = {"resourceClaimTemplateName": "t"}
MINE = {"resourceClaimName": "mine"}


def planned(*objects: dict[str, Any], groups: dict[str, Any] = GROUPS) -> PlanReport:
    listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    sources = [
        Source("cluster.json", json.dumps(listed).encode()),
        Source("groups.json", json.dumps(groups).encode()),
    ]
    return run(decode(sources), Request(), clock=FixedClock(), rng=FirstRng())


def fitting(report: PlanReport) -> list[tuple[str, str]]:
    return [(each.pod.removeprefix("default/"), each.node) for each in report.fitting]


def grown(report: PlanReport) -> int:
    (group,) = report.groups
    return group.size_after - group.size_before


def test_new_nodes_come_with_the_devices_of_their_group() -> None:
    report = planned(node(), sliced(), CLASS, template(), *pods(5, **FROM_TEMPLATE))

    assert fitting(report) == [("p0", "a-1"), ("p1", "a-1")]
    assert grown(report) == 2
    assert report.is_satisfied
    assert report.not_evaluated == ()


def test_devices_are_found_by_their_selectors() -> None:
    asked = template(content(model="a100"))

    report = planned(node(), sliced(), CLASS, asked, *pods(3, **FROM_TEMPLATE))

    assert len(report.fitting) == 1
    assert grown(report) == 2


def test_devices_that_running_pods_have_are_in_use() -> None:
    running = pod("running", on="a-1", resourceClaimName="theirs")

    report = planned(
        node(), sliced(), CLASS, template(), claim("theirs", device="d0"), running,
        *pods(2, **FROM_TEMPLATE),
    )  # fmt: skip

    assert fitting(report) == [("p0", "a-1")]
    assert grown(report) == 1


def test_a_claim_that_no_node_can_meet_says_so() -> None:
    report = planned(node(), sliced(), CLASS, template(content(3)), *pods(1, **FROM_TEMPLATE))

    (stuck,) = report.stuck
    assert stuck.message.startswith("0/1 nodes are available: 1 cannot allocate all claims. ")
    assert [each.reason for each in stuck.groups] == ["cannot allocate all claims"]


def test_a_claim_whose_devices_are_out_of_reach_gives_them_back() -> None:
    elsewhere = claim("mine", device="d0")
    field = {"key": "metadata.name", "operator": "In", "values": ["gone"]}
    selector = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    elsewhere["status"]["allocation"]["nodeSelector"] = selector

    report = planned(node(), sliced(), CLASS, elsewhere, pod(**MINE))

    (stuck,) = report.stuck
    said = "1 resourceclaim not available on the node. deallocation of ResourceClaim completed, "
    assert said in stuck.message


def test_a_selector_that_cannot_be_evaluated_is_all_there_is_to_say() -> None:
    asked = template(content())
    (first,) = asked["spec"]["spec"]["devices"]["requests"]
    expression = f'device.attributes["{DRIVER}"].absent == 1'
    first["exactly"]["selectors"] = [{"cel": {"expression": expression}}]

    report = planned(node(), sliced(), CLASS, asked, pod(**FROM_TEMPLATE))

    (stuck,) = report.stuck
    assert stuck.message.startswith('running "DynamicResources" filter plugin: claim of the pod: ')
    assert "no such key: absent" in stuck.message


def test_pods_that_share_a_claim_go_where_its_devices_are() -> None:
    report = planned(
        node(), sliced(), node("b-1", "b"), sliced("b-1"), CLASS, claim(), *pods(3, **MINE)
    )

    assert len({place for _, place in fitting(report)}) == 1
    assert len(report.fitting) == 3


def test_devices_that_all_nodes_reach_are_given_once() -> None:
    net = sliced({"allNodes": True})

    report = planned(node(), net, CLASS, template(), *pods(3, **FROM_TEMPLATE))

    assert len(report.fitting) == 2
    assert grown(report) == 0
    assert [each.pods for each in report.stuck] == [("default/p2",)]


def test_a_group_without_nodes_has_the_devices_described_for_it() -> None:
    described = {"name": "a", "maxSize": 5, "template": {"capacity": {"cpu": "8", "pods": "9"}}}

    report = planned(
        sliced("template-a"), CLASS, template(), *pods(3, **FROM_TEMPLATE),
        groups={**GROUPS, "groups": [described]},
    )  # fmt: skip

    assert grown(report) == 2
    assert report.is_satisfied


@pytest.mark.parametrize("broken", ["missing", "incomplete"])
def test_devices_of_new_nodes_are_those_of_a_node_that_has_them_all(broken: str) -> None:
    fresh = sliced("a-0", models=["a100"])
    fresh["spec"]["pool"]["resourceSliceCount"] = 2
    first = [node("a-0"), *([fresh] if broken == "incomplete" else [])]

    report = planned(*first, node(), sliced(), CLASS, template(), *pods(4, **FROM_TEMPLATE))

    assert grown(report) == 1
    assert report.is_satisfied


def test_daemons_hold_the_same_devices_on_new_nodes() -> None:
    daemon = pod("watch", on="a-1", daemon="watch", resourceClaimName="theirs")

    report = planned(
        node(), sliced(), CLASS, template(), claim("theirs", device="d0"), daemon,
        *pods(3, **FROM_TEMPLATE),
    )  # fmt: skip

    assert len(report.fitting) == 1
    assert grown(report) == 2


def test_extended_resources_are_served_by_devices() -> None:
    asking = [pod(f"p{index}", requests={"example.com/gpu": "1"}) for index in range(5)]

    report = planned(node(), sliced(), CLASS, *asking)

    assert len(report.fitting) == 2
    assert grown(report) == 2


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (MINE, 'waits for its claims: could not find ResourceClaim "default/mine"'),
        (
            {"resourceClaimTemplateName": "other"},
            'waits for its claims: pod "default/p": ResourceClaim not created yet',
        ),
    ],
)
def test_a_pod_whose_claim_is_not_there_waits_for_it(source: dict[str, str], reason: str) -> None:
    report = planned(node(), sliced(), CLASS, template(), claim("any"), pod(**source))

    assert [(each.pod, each.reason) for each in report.apart] == [("default/p", reason)]
    assert report.stuck == ()


def test_without_any_device_object_claims_are_named_as_not_looked_at() -> None:
    report = planned(node(), *pods(2, **FROM_TEMPLATE))

    assert len(report.fitting) == 2
    assert [(each.field, each.rule, each.pods) for each in report.not_evaluated] == [
        ("resourceClaims", "DynamicResources", 2)
    ]
    assert report.problems == ()


@pytest.mark.parametrize(
    ("objects", "source", "missing"),
    [
        ([CLASS, template()], FROM_TEMPLATE, "no ResourceSlice object"),
        ([sliced(), template()], FROM_TEMPLATE, "no DeviceClass object"),
        ([sliced(), CLASS], FROM_TEMPLATE, "no ResourceClaimTemplate object"),
        ([sliced()], MINE, "no ResourceClaim and no DeviceClass object"),
    ],
)
def test_what_is_missing_to_judge_claims_is_told(
    objects: list[dict[str, Any]], source: dict[str, str], missing: str
) -> None:
    report = planned(node(), *objects, *pods(3, **source))

    (problem,) = report.problems
    assert f"the input has {missing}. Claims of devices are not looked at" in problem.message
    assert len(report.fitting) == 3
    assert [each.field for each in report.not_evaluated] == ["resourceClaims"]
