"""What a stand-in StatefulSet does about its pods, one event after the other."""

from collections.abc import Sequence

import pytest

from tests.standin.hpa import round_of
from tests.standin.hpa_behavior import Memory
from tests.standin.hpa_maths import Scale
from tests.standin.hpa_rows import Row, autoscaler_of, has, one
from tests.standin.statefulset import (
    Command,
    Create,
    Delete,
    Event,
    Gone,
    Readied,
    Scaled,
    StatefulSet,
    running,
    step,
)


def after(found: StatefulSet, *events: Event) -> tuple[StatefulSet, list[Sequence[Command]]]:
    """Return what becomes of a StatefulSet, and what it does after each event."""
    done: list[Sequence[Command]] = []
    for event in events:
        found, commands = step(found, event)
        done.append(commands)
    return found, done


def test_pods_in_order_are_made_one_after_the_other_is_ready() -> None:
    found, done = after(running(1), Scaled(3), Readied(1), Readied(2))

    assert done == [(Create(1),), (Create(2),), ()]
    assert (found.status_replicas, found.ready_replicas) == (3, 3)


def test_pods_in_order_are_deleted_one_after_the_other_is_gone() -> None:
    found, done = after(running(5), Scaled(3), Readied(0), Gone(4), Gone(3))

    assert done == [(Delete(4),), (), (Delete(3),), ()]
    assert found.status_replicas == 3


def test_k_2_a_pod_that_is_not_ready_holds_deletions_up() -> None:
    found, done = after(running(5), Readied(1, is_ready=False), Scaled(3), Readied(1))

    assert done == [(), (), (Delete(4),)]
    assert found.status_replicas == 5


def test_k_3_pods_in_parallel_are_deleted_together() -> None:
    found, done = after(running(5, order="Parallel"), Readied(1, is_ready=False), Scaled(3))

    assert done == [(), (Delete(4), Delete(3))]
    assert found.status_replicas == 5


def test_pods_in_parallel_are_made_together() -> None:
    _, done = after(running(1, order="Parallel"), Scaled(4))

    assert done == [(Create(1), Create(2), Create(3))]


def test_k_4_ordinals_begin_where_they_are_told_to() -> None:
    found, done = after(running(4, start=5), Scaled(3))

    assert found.ordinals == (5, 6, 7)
    assert done == [(Delete(8),)]


@pytest.mark.parametrize(
    ("unready", "deleted"),
    [((3,), (Delete(4),)), ((4,), (Delete(4),)), ((3, 4), ())],
    ids=["below", "the only one", "another one below"],
)
def test_a_pod_to_be_deleted_that_is_not_ready_waits_for_those_below(
    unready: tuple[int, ...], deleted: tuple[Command, ...]
) -> None:
    ready = [Readied(each, is_ready=False) for each in unready]

    _, done = after(running(5), *ready, Scaled(3))

    assert done[-1] == deleted


def test_k_1_no_pod_that_holds_state_is_ever_deleted() -> None:
    """Covers R-36 in part."""
    found, memory = running(12), Memory()
    indices = {each: each + 1 for each in range(12)}
    autoscaler = autoscaler_of(Row(scale=has(12), answers=(one(1), one(1)), replicas=1))
    steps, now_s = [], 0.0
    for drained in (None, 11, 10):
        indices.pop(drained, None) if drained is not None else None
        for _ in range(4):
            now_s += 1.0
            scale = Scale(wanted=found.replicas, there=found.status_replicas)
            answers = (one(10), one(found.floor(indices)))
            memory, outcome = round_of(
                autoscaler, memory, scale=scale, answers=answers, now_s=now_s
            )
            found, commands = step(found, Scaled(outcome.replicas))
            gone = [each.ordinal for each in commands if isinstance(each, Delete)]
            assert not indices.keys() & set(gone)
            for each in gone:
                found, _ = step(found, Gone(each))
        steps.append(found.status_replicas)

    assert steps == [12, 11, 10]
