"""Which gangs get their places, and in which order."""

from collections.abc import Sequence

from springtide.engine.framework.ask import keys_read
from springtide.engine.gang.ground import StandingNodes
from springtide.engine.gang.settling import Settled, settle, settle_more
from springtide.engine.placement.classes import Classifier
from springtide.model.gang import Gang, Task
from springtide.model.ledger import Ledger
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from tests.builders import near, node, pod, replicas
from tests.estimates import FAMILIES, tables_of
from tests.unit.engine.gang.gangs import equal, gang, sized


class Field:
    """A few nodes, and what is on them."""

    def __init__(self, *cores: int) -> None:
        self.ledger = Ledger()
        for index, each in enumerate(cores):
            self.ledger.add_node(node(f"n{index}", cpu=each, labels={"zone": f"z{index}"}))
        self.overlay = Overlay(self.ledger)

    def ground(self, pods: Sequence[Pod]) -> StandingNodes:
        """Return the nodes as ground for these pods."""
        keys = keys_read(each.spec for each in pods)
        return StandingNodes(tables_of(self.ledger), self.overlay, Classifier(FAMILIES, keys=keys))

    def settled(self, gangs: Sequence[Gang], *others: Pod) -> Settled:
        """Settle the gangs, their pods in turn after the others."""
        pods = [*others, *(each for one in gangs for each in one.pods)]
        return settle(pods, gangs, self.ground(pods))

    @property
    def held(self) -> list[str]:
        """Return the uids of the pods that have places, in order."""
        return sorted(uid.rpartition("/")[2] for uid in self.ledger.holdings)


def named(gangs: Sequence[Gang]) -> list[str]:
    return [each.name for each in gangs]


def test_a_gang_that_does_not_fit_holds_nothing() -> None:
    field = Field(2)

    answer = field.settled([equal("g", 3, 3)])

    assert named(answer.unmet) == ["g"]
    assert answer.left == ()
    assert field.held == []


def test_pods_beyond_the_minimum_may_be_left() -> None:
    field = Field(3)

    answer = field.settled([equal("g", 4, 2)])

    assert answer.unmet == ()
    assert [each.name for each in answer.left] == ["g-3"]
    assert field.held == ["g-0", "g-1", "g-2"]


def test_pods_that_have_their_places_count() -> None:
    field = Field(2)

    answer = field.settled([gang("g", 3, replicas(2, pod("g", cpu=1)), standing=1)])

    assert answer.unmet == ()


def test_a_gang_that_does_not_fit_leaves_room_to_others() -> None:
    field = Field(3)

    answer = field.settled([equal("big", 4, 4), equal("small", 3, 3)])

    assert named(answer.unmet) == ["big"]
    assert field.held == ["small-0", "small-1", "small-2"]


def test_of_two_gangs_in_each_others_way_the_first_gets_its_places() -> None:
    field = Field(3)
    first, second = equal("a", 2, 2), equal("b", 2, 2)
    mixed = [first.pods[0], second.pods[0], second.pods[1], first.pods[1]]

    answer = settle(mixed, [first, second], field.ground(mixed))

    assert named(answer.unmet) == ["b"]
    assert field.held == ["a-0", "a-1"]


def test_the_gang_with_the_higher_priority_comes_first() -> None:
    field = Field(3)

    answer = field.settled([equal("low", 2, 2), equal("high", 2, 2, priority=5)])

    assert named(answer.unmet) == ["low"]
    assert field.held == ["high-0", "high-1"]


def test_pods_before_a_gang_keep_their_places() -> None:
    field = Field(4)

    answer = field.settled([equal("g", 4, 4)], pod("first", cpu=1))

    assert named(answer.unmet) == ["g"]
    assert field.held == ["first"]


def test_a_gang_takes_its_turn_between_pods_of_other_priority() -> None:
    field = Field(4)
    tasks = [Task(name="t", minimum=1)]
    members = [*replicas(3, pod("g", cpu=1, priority=5)), pod("t", cpu=1, priority=5)]
    given = gang("g", 3, members, tasks=tasks, task_names=["", "", "", "t"])
    above, below = pod("above", cpu=1, priority=9), pod("below", cpu=1)

    answer = field.settled([given], below, above)

    assert answer.unmet == ()
    assert field.held == ["above", "g-0", "g-1", "t"]
    assert [each.name for each in answer.left] == ["g-2", "below"]


def test_other_members_do_where_the_first_ones_do_not_fit() -> None:
    field = Field(2)

    answer = field.settled([sized("g", 2, [5, 1, 1])])

    assert answer.unmet == ()
    assert field.held == ["g-1", "g-2"]
    assert [each.name for each in answer.left] == ["g-0"]


def test_a_gang_with_too_few_pods_is_not_met() -> None:
    field = Field(9)

    answer = field.settled([equal("g", 3, 4)])

    assert named(answer.unmet) == ["g"]
    assert field.held == []


def test_gangs_that_fall_short_only_by_the_new_order_take_turns_too() -> None:
    # All at once, `a` and `b` fit and `c` does not; in turns, `c` comes first.
    field = Field(4, 2)
    a, b, c = equal("a", 2, 2), equal("b", 2, 2), equal("c", 3, 3)
    mixed = [c.pods[0], *a.pods, *b.pods, c.pods[1], c.pods[2]]

    answer = settle(mixed, [a, b, c], field.ground(mixed))

    assert named(answer.unmet) == ["b"]
    assert field.held == ["a-0", "a-1", "c-0", "c-1", "c-2"]


def test_all_gangs_take_turns_where_the_order_does_not_settle() -> None:
    # Each new order makes another gang fall short, as often as it is made anew.
    field = Field(3, 6, 3, 5)
    gangs = [
        sized("g0", 1, [2]),
        sized("g1", 1, [2]),
        sized("g2", 3, [1, 3, 3, 3, 1]),
        sized("g3", 2, [2, 1, 1]),
        sized("g4", 3, [2, 3, 3]),
    ]
    pods = {each.name: each for one in gangs for each in one.pods}
    order = [
        "g3-1",
        "g0-0",
        "g4-0",
        "g4-1",
        "g4-2",
        "g2-3",
        "g2-1",
        "g1-0",
        "g2-2",
        "g3-2",
        "g2-4",
        "g2-0",
        "g3-0",
    ]

    answer = settle([pods[name] for name in order], gangs, field.ground(list(pods.values())))

    assert named(answer.unmet) == ["g2"]
    assert field.held == ["g0-0", "g1-0", "g3-0", "g3-1", "g3-2", "g4-0", "g4-1", "g4-2"]


def test_a_gang_that_needs_another_pod_near_is_tried_again_behind_it() -> None:
    field = Field(4)
    friend = pod("friend", cpu=1, labels={"app": "friend"})
    follower = replicas(2, pod("g", cpu=1, priority=5, neighbours=near("zone", "friend")))

    answer = field.settled([gang("g", 2, follower)], friend)

    assert answer.unmet == ()
    assert field.held == ["friend", "g-0", "g-1"]


def test_gangs_may_be_tried_again_where_there_is_more_room() -> None:
    field = Field(1)
    given, other = equal("g", 3, 2), equal("other", 9, 9)
    pods = [*given.pods, *other.pods]
    settled = settle(pods, [given, other], field.ground(pods))
    field.ledger.add_node(node("new", cpu=2))

    answer = settle_more(settled, field.ground(pods))

    assert named(settled.unmet) == ["g", "other"]
    assert named(answer.unmet) == ["other"]
    assert field.held == ["g-0", "g-1", "g-2"]
