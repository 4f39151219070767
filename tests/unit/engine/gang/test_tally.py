"""Counting the pods of a gang."""

from springtide.engine.gang.tally import first_needed, is_met, tally
from springtide.model.gang import Task
from tests.builders import pod, replicas
from tests.unit.engine.gang.gangs import equal, gang

PODS = replicas(4, pod("p"))
TASKS = (Task(name="a", minimum=1), Task(name="b", minimum=2, standing=1))


def uids(count: int) -> set[str]:
    """Return the uids of so many of the last pods."""
    return {each.uid for each in PODS[len(PODS) - count :]}


def test_members_that_have_their_places_count() -> None:
    given = gang("g", 4, PODS, standing=1)

    assert tally(given, uids(1)).running == 4
    assert is_met(given, uids(1))
    assert tally(given, uids(2)).missing == 1
    assert not is_met(given, uids(2))


def test_a_task_below_its_minimum_keeps_the_gang_from_starting() -> None:
    given = gang("g", 2, PODS, tasks=TASKS, task_names=["a", "a", "", "b"])

    found = tally(given, uids(1))

    assert found.running == 3
    assert [(each.name, each.running, each.missing) for each in found.tasks] == [
        ("a", 2, 0),
        ("b", 1, 1),
    ]
    assert found.missing == 1


def test_what_tasks_lack_is_added_up() -> None:
    tasks = (Task(name="a", minimum=2), Task(name="b", minimum=2))
    given = gang("g", 3, PODS, tasks=tasks, task_names=["", "", "", ""])

    assert tally(given, ()).missing == 4


def test_the_first_pods_are_needed_first() -> None:
    given = equal("p", 4, 2)

    assert [each.name for each in first_needed(given)] == ["p-0", "p-1"]


def test_pods_of_tasks_with_a_minimum_are_needed_before_others() -> None:
    given = gang("g", 3, PODS, tasks=TASKS, task_names=["", "a", "a", "b"])

    assert [each.name for each in first_needed(given)] == ["p-0", "p-1", "p-3"]


def test_nobody_is_needed_where_enough_have_their_places() -> None:
    assert first_needed(gang("g", 2, PODS, standing=2)) == ()


def test_more_cannot_be_needed_than_there_are() -> None:
    assert first_needed(gang("g", 9, PODS)) == tuple(PODS)
