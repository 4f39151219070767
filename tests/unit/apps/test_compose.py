"""What the answer says about groups: why they grow, by more than pods need, or not at all."""

import json
from typing import Any

import pytest

from springtide.apps.planner import PlanReport, Request, run
from springtide.engine.capacity.quotas import Quota
from springtide.engine.capacity.scene import Bounds, Manner
from springtide.wire.documents import decode
from springtide.wire.source import Source
from tests.world import FirstRng, FixedClock

Json = dict[str, Any]


def groups(*named: Json) -> Json:
    made = [
        {"maxSize": 5, "template": {"capacity": {"cpu": "4", "memory": "8Gi"}}, **each}
        for each in named
    ]
    return {"apiVersion": "springtide.io/v1alpha1", "kind": "NodeGroups", "groups": made}


def pods(count: int, *, cpu: str = "3") -> list[Json]:
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}
    header = {"apiVersion": "v1", "kind": "Pod", "spec": spec, "status": {"phase": "Pending"}}
    return [
        {**header, "metadata": {"name": f"p{n}", "namespace": "n", "uid": f"p{n}"}}
        for n in range(count)
    ]


def planned(*documents: Json, cores_max: int = 0, raises: bool = False) -> PlanReport:
    sources = [Source(f"in-{n}", json.dumps(each).encode()) for n, each in enumerate(documents)]
    quotas = (Quota(limits=(("cpu", cores_max),)),) if cores_max else ()
    request = Request(bounds=Bounds(quotas=quotas), manner=Manner(raises_to_minimum=raises))
    return run(decode(sources), request, clock=FixedClock(), rng=FirstRng())


@pytest.mark.parametrize(
    ("group", "why"),
    [
        (
            {"name": "g", "minSize": 3},
            "the only group that helps; 2 more than the pods need, because it has at least 3",
        ),
        (
            {"name": "g", "zeroOrMax": True},
            (
                "the only group that helps; 4 more than the pods need, "
                "because it has either no node or all 5"
            ),
        ),
    ],
    ids=["minimum", "all or none"],
)
def test_nodes_that_no_pod_needs_are_explained(group: Json, why: str) -> None:
    report = planned(groups(group), *pods(1))

    assert report.groups[0].why == why


def test_a_group_is_raised_as_far_as_limits_allow_and_says_so() -> None:
    report = planned(groups({"name": "g", "minSize": 3}), cores_max=8, raises=True)

    assert report.summary == (
        "No pod is waiting for a node. Adding 2 nodes to g is only for its minimum size."
    )
    assert report.groups[0].why == (
        "raised to its minimum size of 3, but not all the way: "
        'exceeded quota: "cluster-wide", resources: cpu (8 of 8 left, a new node has 4)'
    )


def test_a_group_that_stays_below_its_minimum_says_why() -> None:
    report = planned(groups({"name": "g", "minSize": 1}), cores_max=3, raises=True)

    assert report.summary == "No pod is waiting for a node."
    assert report.groups[0].why == (
        "stays below its minimum size of 1: "
        'exceeded quota: "cluster-wide", resources: cpu (3 of 3 left, a new node has 4)'
    )


def test_several_groups_are_raised_beside_the_growth_for_pods() -> None:
    named = [{"name": name, "minSize": 1} for name in "abc"]

    report = planned(groups(*named), *pods(1), raises=True)

    assert report.summary == (
        "1 pod is pending. Adding 1 node to a lets it run. "
        "Adding 1 node to b and 1 node to c is only for their minimum sizes."
    )


def test_pods_that_fit_nowhere_come_with_what_the_autoscaler_would_say() -> None:
    report = planned(groups({"name": "g"}, {"name": "h", "maxSize": 0}), *pods(1, cpu="9"))

    (left,) = report.stuck
    assert left.autoscaler_message == "pod didn't trigger scale-up: 2 Insufficient cpu"


def test_a_full_group_that_nobody_needs_says_so() -> None:
    report = planned(groups({"name": "g", "maxSize": 0}))

    assert report.groups[0].why == "max node group size reached: 0 of at most 0 nodes"
