"""Gangs: which pods belong together, by what the input says."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from springtide.apps.planner.gangs import Gathered, gathered
from springtide.model.gang import GangApi, PodGroup, Task
from springtide.model.pod import GangLink, Pod
from tests.builders import pod, replicas

GROUP = PodGroup(api=GangApi.VOLCANO, namespace="default", name="train", minimum=3)
LINK = GangLink(api=GangApi.VOLCANO, name="train")
OURS = GangLink(api=GangApi.ANNOTATION, name="train")


def linked(count: int, *links: GangLink, name: str = "p") -> list[Pod]:
    return [replace(each, gang_links=links) for each in replicas(count, pod(name))]


def found_in(pods: Sequence[Pod], *groups: PodGroup) -> Gathered:
    """Gather; a pod with a node has its place, one that is pending waits."""
    return gathered(
        pods,
        groups,
        placed=[(each, each.node_name) for each in pods if each.node_name],
        waiting=[each for each in pods if not each.node_name and not each.is_finished],
    )


def test_pods_that_name_no_group_form_no_gang() -> None:
    assert found_in(replicas(3, pod()), GROUP) == Gathered()


def test_pods_of_one_group_form_a_gang() -> None:
    pods = linked(4, LINK)

    (gang,) = found_in(pods, GROUP).gangs

    assert (gang.key, gang.api, gang.minimum) == ("default/train", "scheduling.volcano.sh", 3)
    assert list(gang.pods) == pods


def test_a_group_of_another_namespace_is_another_group() -> None:
    elsewhere = replace(GROUP, namespace="other")

    found = found_in(linked(2, LINK), elsewhere)

    assert found.gangs == ()
    assert "PodGroup default/train of scheduling.volcano.sh" in found.problems[0].message


def test_a_group_without_a_minimum_is_no_gang() -> None:
    found = found_in(linked(2, LINK), replace(GROUP, minimum=None))

    assert found == Gathered()


def test_minimums_of_tasks_make_a_gang_by_themselves() -> None:
    group = replace(GROUP, minimum=None, task_minimums=(("worker", 2), ("driver", 1)))
    workers = linked(2, replace(LINK, task="worker"))

    (gang,) = found_in(workers, group).gangs

    assert gang.minimum == 3
    assert gang.tasks == (Task(name="worker", minimum=2), Task(name="driver", minimum=1))


def test_members_that_run_or_have_ended_well_count_already() -> None:
    waiting, running, ended, failed, going = linked(5, LINK)
    pods = [
        waiting,
        replace(running, node_name="n", phase="Running"),
        replace(ended, node_name="n", phase="Succeeded"),
        replace(failed, node_name="n", phase="Failed"),
        replace(going, node_name="n", is_terminating=True),
    ]

    (gang,) = found_in(pods, GROUP).gangs

    assert (gang.standing, gang.pods, gang.apart) == (2, (waiting,), 0)


def test_members_that_wait_for_something_else_are_counted_apart() -> None:
    pods = linked(3, LINK)

    (gang,) = gathered(pods, [GROUP], placed=[], waiting=pods[:1]).gangs

    assert (len(gang.waiting), gang.apart) == (1, 2)


def test_a_gang_of_which_nobody_waits_is_none_to_plan_for() -> None:
    pods = [replace(each, node_name="n") for each in linked(3, LINK)]

    assert found_in(pods, GROUP).gangs == ()


def test_replicas_of_a_group_are_gangs_of_their_own() -> None:
    group = PodGroup(api=GangApi.WORKLOAD, namespace="default", name="train/workers", minimum=2)
    link = GangLink(api=GangApi.WORKLOAD, name="train/workers")
    pods = [
        *linked(2, replace(link, replica="0"), name="a"),
        *linked(2, replace(link, replica="1"), name="b"),
    ]

    found = found_in(pods, group)

    assert [(each.name, len(each.waiting)) for each in found.gangs] == [
        ("train/workers/0", 2),
        ("train/workers/1", 2),
    ]


@pytest.mark.parametrize(("sizes", "minimum"), [(("2", "2"), 2), (("2", "3"), 3), (("", ""), 2)])
def test_annotations_say_the_minimum_or_mean_all_pods(sizes: tuple[str, str], minimum: int) -> None:
    pods = [
        each
        for index, size in enumerate(sizes)
        for each in linked(1, replace(OURS, minimum=size), name=f"p{index}")
    ]

    found = found_in(pods)

    assert [each.minimum for each in found.gangs] == [minimum]
    assert found.problems == ()


@pytest.mark.parametrize("size", ["none", "0", "-1", "1.5", "9" * 20, "²"])
def test_a_malformed_minimum_is_told_once(size: str) -> None:
    pods = linked(3, replace(OURS, minimum=size))

    found = found_in(pods)

    (problem,) = found.problems
    assert problem.object == "Pod/default/p-0"
    assert problem.field == 'metadata.annotations["springtide.io/gang-min-size"]'
    assert "Give 1 or more" in problem.message
    assert [each.minimum for each in found.gangs] == [3]


def test_an_object_counts_before_an_annotation() -> None:
    pods = linked(4, LINK, replace(OURS, minimum="many"))

    found = found_in(pods, GROUP)

    assert [(each.api, each.minimum) for each in found.gangs] == [("scheduling.volcano.sh", 3)]
    assert found.problems == ()


def test_where_the_object_is_absent_an_annotation_counts_and_it_is_told() -> None:
    found = found_in(linked(4, LINK, replace(OURS, minimum="2")))

    assert [(each.api, each.minimum) for each in found.gangs] == [("springtide.io", 2)]
    assert "is planned for as its annotations say. So do 3 others." in found.problems[0].message


def test_where_nothing_says_the_minimum_pods_are_alone_and_it_is_told() -> None:
    found = found_in(linked(2, GangLink(api=GangApi.COSCHEDULING, name="train")))

    assert found.gangs == ()
    assert [each.message for each in found.problems] == [
        (
            "it belongs to the PodGroup default/train of scheduling.x-k8s.io, which is not in the "
            "input, and is planned for by itself. So does another pod. Add the object, or annotate the "
            "pods with springtide.io/gang and springtide.io/gang-min-size."
        )
    ]


def test_a_group_that_volcano_would_make_is_not_missed() -> None:
    link = GangLink(api=GangApi.VOLCANO, name="podgroup-7", minimum="2")

    found = found_in(linked(2, link))

    assert [each.minimum for each in found.gangs] == [2]
    assert found.problems == ()


def test_what_a_plan_does_not_look_at_is_told() -> None:
    group = replace(GROUP, unread=("spec.networkTopology",))

    (problem,) = found_in(linked(3, LINK), group).problems

    assert (problem.object, problem.field) == ("PodGroup/default/train", "spec.networkTopology")
