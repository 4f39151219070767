"""What a gang lacks on the nodes that are there."""

from springtide.engine.framework.ask import keys_read
from springtide.engine.gang.ground import StandingNodes, likeness
from springtide.engine.gang.shortfall import shortfall
from springtide.engine.placement.classes import Classifier
from springtide.model.gang import Gang, Task
from springtide.model.ledger import Ledger
from springtide.model.overlay import Overlay
from tests.builders import away, node, pod, replicas
from tests.estimates import FAMILIES, tables_of
from tests.ledgers import content
from tests.unit.engine.gang.gangs import equal, gang, sized


def ground(cores: int, given: Gang) -> StandingNodes:
    """Return a node of so many cores."""
    ledger = Ledger()
    ledger.add_node(node("n", cpu=cores))
    keys = keys_read(each.spec for each in given.pods)
    return StandingNodes(tables_of(ledger), Overlay(ledger), Classifier(FAMILIES, keys=keys))


def test_a_gang_is_short_by_the_pods_that_find_no_room() -> None:
    given = equal("g", 8, 8)

    found = shortfall(given, ground(6, given))

    assert (found.tally.running, found.tally.missing) == (6, 2)
    assert [each.name for each in found.left] == ["g-6", "g-7"]


def test_pods_beyond_the_minimum_are_counted_if_they_fit() -> None:
    given = equal("g", 8, 4)

    found = shortfall(given, ground(6, given))

    assert (found.tally.running, found.tally.missing) == (6, 0)


def test_pods_that_a_task_needs_come_first() -> None:
    tasks = [Task(name="t1", minimum=2), Task(name="t2", minimum=2)]
    names = ["t1"] * 6 + ["t2"] * 2
    given = gang("g", 5, replicas(8, pod("p", cpu=1)), tasks=tasks, task_names=names)

    found = shortfall(given, ground(5, given))

    assert [(each.name, each.running) for each in found.tally.tasks] == [("t1", 3), ("t2", 2)]
    assert found.tally.missing == 0


def test_nothing_of_the_gang_stays() -> None:
    given = equal("g", 3, 3)
    ledger = Ledger()
    ledger.add_node(node("n", cpu=2))
    before = content(ledger)

    shortfall(given, StandingNodes(tables_of(ledger), Overlay(ledger), Classifier(FAMILIES)))

    assert content(ledger) == before


def test_the_ground_moves_where_rules_read_other_pods() -> None:
    plain = equal("g", 2, 2)
    apart = gang("g", 2, replicas(2, pod("p", neighbours=away("kubernetes.io/hostname", "a"))))

    assert not ground(2, plain).is_moving
    assert ground(2, apart).is_moving


def test_gangs_are_alike_if_their_pods_are_and_they_need_as_many() -> None:
    one, other = equal("a", 3, 2), equal("b", 3, 2)
    here = ground(4, one)

    assert likeness(one, here) == likeness(other, here)
    assert likeness(one, here) != likeness(equal("c", 3, 3), here)
    assert likeness(one, here) != likeness(sized("d", 2, [1, 1, 2]), here)
