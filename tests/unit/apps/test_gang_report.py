"""What is said of gangs: short by how many, and what is in the way."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from springtide.apps.planner import PlanReport, Request, run
from springtide.apps.planner.report import GangReport
from springtide.model.gang import GangApi, PodGroup
from springtide.model.group import NodeGroup
from springtide.model.pod import GangLink, Pod
from springtide.wire.documents import Input
from tests.builders import group, node, pod, replicas
from tests.world import FirstRng, FixedClock


def members(count: int, name: str = "train", *, cpu: int = 1, task: str = "") -> list[Pod]:
    link = GangLink(api=GangApi.VOLCANO, name=name, task=task)
    return [replace(each, gang_links=(link,)) for each in replicas(count, pod(name, cpu=cpu))]


def pod_group(minimum: int, name: str = "train", **tasks: int) -> PodGroup:
    return PodGroup(
        api=GangApi.VOLCANO,
        namespace="default",
        name=name,
        minimum=minimum,
        task_minimums=tuple(tasks.items()),
    )


def reported(
    pods: Sequence[Pod],
    *pod_groups: PodGroup,
    cores: int = 2,
    groups: Sequence[NodeGroup] = (),
) -> PlanReport:
    """Return the report of a cluster of one node."""
    found = Input(
        nodes=(node("old", cpu=cores),),
        pods=tuple(pods),
        groups=tuple(groups),
        pod_groups=pod_groups,
    )
    return run(found, Request(), clock=FixedClock(), rng=FirstRng())


def only(report: PlanReport) -> GangReport:
    (gang,) = report.gangs
    return gang


def growing(name: str, *, cpu: int = 2, max_size: int = 1) -> NodeGroup:
    return group(name, template=node(f"template-{name}", cpu=cpu), max_size=max_size)


def test_a_gang_that_is_short_is_told_in_the_summary() -> None:
    report = reported(members(4), pod_group(4))

    assert report.summary == (
        "4 pods are pending. The gang default/train is short by 2, so that nothing is planned for "
        "its 4 pods."
    )
    assert not report.is_satisfied
    assert report.stuck == ()


def test_several_gangs_are_told_together() -> None:
    names = ["a", "b", "c", "d", "e"]
    pods = [each for name in names for each in members(4, name)]

    report = reported(pods, *(pod_group(4, name) for name in names))

    assert report.summary.endswith(
        "Of the gangs, default/a is short by 2, default/b is short by 2, default/c is short by 2 and "
        "2 other gangs fall short too, so that nothing is planned for their 20 pods."
    )


def test_a_gang_that_gets_its_places_needs_no_sentence() -> None:
    report = reported(members(2), pod_group(2))

    assert report.summary == "2 pods are pending. 2 pods already fit the nodes that are there."
    assert (only(report).is_met, only(report).why) == (True, "has enough places")
    assert report.is_satisfied


def test_further_pods_that_fit_nowhere_are_counted() -> None:
    report = reported(members(3), pod_group(2))

    assert only(report).why == "has enough places; 1 further pod fits nowhere"
    assert [item.pods for item in report.stuck] == [("default/train-2",)]


def test_members_that_run_are_counted() -> None:
    running = [replace(each, node_name="old", phase="Running") for each in members(1)]
    waiting = [replace(each, name=f"w{i}", uid=f"w{i}") for i, each in enumerate(members(3))]

    gang = only(reported([*running, *waiting], pod_group(4)))

    assert (gang.standing, gang.running, gang.short_by) == (1, 2, 2)


def test_the_closest_group_is_told_with_the_nodes_it_would_take() -> None:
    report = reported(members(8), pod_group(8), groups=[growing("g", max_size=2)])

    gang = only(report)
    assert gang.why == (
        "short by 2; closest is g, 3 new nodes needed, 2 allowed: "
        "max node group size reached: 2 of at most 2 nodes"
    )
    assert gang.closest is not None
    assert gang.closest.group == "g"
    assert report.groups[0].why == (
        "would help the gang default/train, but 3 new nodes needed, 2 allowed: "
        "max node group size reached"
    )


def test_a_group_that_is_not_the_closest_says_what_limits_it() -> None:
    report = reported(members(9), pod_group(9), groups=[growing("g"), growing("h")])

    assert [each.why for each in report.groups] == [
        (
            "would help the gang default/train, but 3 new nodes needed, 1 allowed: "
            "max node group size reached"
        ),
        (
            "would help the gang default/train, but not enough: "
            "max node group size reached: 1 of at most 1 nodes"
        ),
    ]


def test_a_group_that_refuses_the_pods_says_so_itself() -> None:
    report = reported(members(2, cpu=4), pod_group(2), groups=[growing("g", cpu=2)])

    assert only(report).why == ("short by 2; closest is g: Insufficient cpu: 4 cpu asked, 2 free")
    assert report.groups[0].why.startswith("Insufficient cpu")


def test_without_groups_the_nodes_say_what_is_in_the_way() -> None:
    assert only(reported(members(4), pod_group(4))).why.startswith(
        "short by 2; the next pod fits nowhere: 0/1 nodes are available: 1 Insufficient cpu."
    )


@pytest.mark.parametrize(
    ("gated", "why"),
    [
        (0, "short by 1; only 2 pods can be planned for"),
        (1, "short by 2; only 1 pod can be planned for; 1 pod waits for something else"),
        (2, "short by 3; only 0 pods can be planned for; 2 pods wait for something else"),
    ],
)
def test_a_gang_with_too_few_pods_says_so(gated: int, why: str) -> None:
    pods = [
        replace(each, spec=replace(each.spec, scheduling_gates=("wait",)))
        if index < gated
        else each
        for index, each in enumerate(members(2))
    ]

    report = reported(pods, pod_group(3), cores=8)

    assert [each.why for each in report.gangs] == ([why] if gated < len(pods) else [])


def test_tasks_below_their_minimum_are_named() -> None:
    pods = [*members(2, task="worker"), *members(1, task="driver")]
    pods[2] = replace(pods[2], name="d", uid="d", spec=pod("d", cpu=9).spec)

    gang = only(reported(pods, pod_group(2, worker=2, driver=1)))

    assert gang.why.startswith("short by 1; task driver has 0 of 1; ")
    assert [(each.name, each.minimum, each.running) for each in gang.tasks] == [
        ("worker", 2, 2),
        ("driver", 1, 0),
    ]
