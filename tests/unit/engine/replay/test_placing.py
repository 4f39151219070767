"""Pods that come one after the other, and some that go."""

from springtide.engine.placement.classes import Classifier
from springtide.engine.replay import Turn, arrivals, placed_in_turn, rows_in_use, usage
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from tests.builders import cards, node, pod, replicas
from tests.estimates import FAMILIES, tables_of
from tests.headrooms import ledger_of


def rows(ledger: Ledger, pods: tuple[Pod, ...], order: tuple[Turn, ...]) -> list[int | None]:
    """Return the row of every pod that comes, None for those that no node takes."""
    answers = placed_in_turn(pods, order, Classifier(FAMILIES), tables_of(ledger))
    return [None if each.placement is None else each.placement.row for each in answers]


def test_a_pod_that_nothing_takes_is_refused_and_the_next_one_may_fit() -> None:
    ledger = ledger_of([(node(cpu=2), ())])
    pods = (pod("a", cpu=1), pod("b", cpu=4), pod("c", cpu=1))

    found = rows(ledger, pods, arrivals(3))

    assert found == [0, None, 0]
    ledger.check()
    assert sorted(ledger.holdings) == ["default/a", "default/c"]


def test_who_goes_makes_room_and_who_was_refused_does_not_come_again() -> None:
    ledger = ledger_of([(node(cpu=2), ())])
    pods = replicas(3, pod("web", cpu=2))
    order = (
        Turn(pod=0),
        Turn(pod=1),
        Turn(pod=1, is_departure=True),
        Turn(pod=0, is_departure=True),
        Turn(pod=2),
    )

    found = rows(ledger, pods, order)

    assert found == [0, None, 0]
    assert list(ledger.holdings) == [pods[2].uid]


def test_the_ledger_is_as_the_answer_has_it_while_it_is_looked_at() -> None:
    ledger = ledger_of([(node(), cards(1))])
    pods = replicas(2, pod("gpu", gpu=1, gpumem=10000))
    answers = placed_in_turn(pods, arrivals(2), Classifier(FAMILIES), tables_of(ledger))

    seen = [int(ledger.devices["NVIDIA"].memory_used[0, 0]) for _ in answers]

    assert seen == [10000, 20000]


def test_usage_counts_devices_that_hold_anything() -> None:
    ledger = ledger_of([(node(), cards(2)), (node(), cards(1)), (node(), ())])
    pods = (pod("gpu", gpu=1, gpumem=10000, gpucores=20),)
    rows(ledger, pods, arrivals(1))

    (found,) = usage(ledger)

    assert (found.family, found.devices, found.in_use) == ("NVIDIA", 3, 1)
    assert (found.memory_mib, found.memory_used_mib) == (3 * 24576, 10000)
    assert (found.cores, found.cores_used) == (300, 20)


def test_families_without_devices_are_not_told() -> None:
    assert usage(ledger_of([(node(), ())])) == ()


def test_rows_in_use_are_those_of_the_pods_that_are_there() -> None:
    ledger = ledger_of([(node(), ()), (node(), ())], running=[(pod("other"), 1)])
    pods = (pod("a", cpu=1),)
    rows(ledger, pods, arrivals(1))

    found = rows_in_use(ledger, ["default/a", "default/gone"])

    assert found == {0}
