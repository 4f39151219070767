"""Plans with gangs: on nodes that are there, on new ones, and on both."""

from collections.abc import Sequence

from springtide.engine.capacity.options import Expander
from springtide.engine.capacity.plan import plan
from springtide.engine.capacity.quotas import Quota
from springtide.engine.capacity.scene import Bounds, Manner
from springtide.engine.capacity.situation import GangAnswer, Plan, Situation, SizedGroup
from springtide.engine.framework.ask import keys_read
from springtide.engine.placement.classes import Classifier
from springtide.model.gang import Gang
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from springtide.policies.expanders import LeastWaste
from tests.builders import node, pod
from tests.estimates import FAMILIES, HandClock, tables_of, template
from tests.ledgers import content
from tests.options import prices
from tests.unit.engine.capacity.test_plan import sized
from tests.unit.engine.gang.gangs import equal
from tests.unit.engine.gang.gangs import sized as of_sizes

SMALL, LARGE = template(node(cpu=2)), template(node(cpu=8))


def planned(
    gangs: Sequence[Gang],
    groups: Sequence[SizedGroup],
    *others: Pod,
    cores: int = 0,
    manner: Manner | None = None,
    cores_max: int = 0,
    chain: Sequence[Expander] = (LeastWaste(),),
) -> Plan:
    """Plan for the gangs after other pods, with one node of so many cores."""
    ledger = Ledger()
    if cores:
        ledger.add_node(node("old", cpu=cores))
    before = content(ledger)
    pending = [*others, *(each for one in gangs for each in one.pods)]
    quotas = (Quota(limits=(("cpu", cores_max),)),) if cores_max else ()
    answer = plan(
        Situation(
            tables=tables_of(ledger),
            classifier=Classifier(FAMILIES, keys=keys_read(each.spec for each in pending)),
            pending=pending,
            gangs=gangs,
            groups=groups,
            clock=HandClock(),
            bounds=Bounds(quotas=quotas),
            manner=manner or Manner(),
        ),
        chain,
    )
    assert content(ledger) == before
    return answer


def only(answer: Plan) -> GangAnswer:
    (told,) = answer.gangs
    return told


def test_a_gang_may_use_nodes_that_are_there_and_new_ones_of_several_groups() -> None:
    groups = [sized("small", SMALL, max_size=1), sized("large", LARGE, max_size=1)]

    answer = planned([equal("g", 11, 11)], groups, cores=1)

    assert only(answer).is_met
    assert only(answer).tally.running == 11
    assert answer.sizes == (("small", 0, 1), ("large", 0, 1))
    assert [on for _, on in answer.fitting] == ["old"]


def test_nothing_is_planned_for_a_gang_that_is_short_by_one() -> None:
    groups = [sized("small", SMALL, max_size=1), sized("large", LARGE, max_size=1)]

    answer = planned([equal("g", 12, 12)], groups, cores=1)

    told = only(answer)
    assert (told.is_met, told.tally.running, told.tally.missing) == (False, 11, 1)
    assert (answer.steps, answer.fitting, answer.stuck) == ((), (), ())
    assert answer.sizes == (("small", 0, 0), ("large", 0, 0))


def test_what_is_in_the_way_is_told_with_the_nodes_it_would_take() -> None:
    answer = planned([equal("g", 8, 8)], [sized("small", SMALL, max_size=3)], cores=1)

    told = only(answer)
    assert told.obstacle is not None
    assert told.obstacle.closest == "small"
    assert dict(told.obstacle.on_groups)["small"].text == "max node group size reached"
    assert (told.nodes_needed, told.nodes_allowed) == (4, 3)
    assert told.obstacle.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_a_pod_that_no_node_could_take_is_the_obstacle_of_its_gang() -> None:
    answer = planned([of_sizes("g", 2, [1, 9])], [sized("small", SMALL)])

    told = only(answer)
    assert told.obstacle is not None
    assert [each.name for each in told.obstacle.pods] == ["g-1"]
    assert dict(told.obstacle.on_groups)["small"].text == "Insufficient cpu"
    assert (told.nodes_needed, told.nodes_allowed) == (0, 0)


def test_a_gang_with_too_few_pods_has_no_obstacle() -> None:
    told = only(planned([equal("g", 2, 3)], [sized("small", SMALL)]))

    assert (told.tally.running, told.tally.missing) == (2, 1)
    assert told.obstacle is None


def test_without_groups_the_nodes_are_the_obstacle() -> None:
    told = only(planned([equal("g", 2, 2)], [], cores=1))

    assert told.obstacle is not None
    assert told.obstacle.closest == ""
    assert told.obstacle.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_a_group_that_cannot_grow_is_not_counted_in_nodes() -> None:
    closed = sized("small", SMALL, max_size=2)

    told = only(planned([of_sizes("g", 3, [2, 2, 9])], [closed]))

    assert told.obstacle is not None
    assert told.nodes_needed == 0


def test_a_gang_that_is_short_leaves_groups_to_others() -> None:
    short, fitting = equal("short", 5, 5), equal("fitting", 4, 4)

    answer = planned([short, fitting], [sized("small", SMALL, max_size=2)])

    assert [each.is_met for each in answer.gangs] == [False, True]
    assert answer.sizes == (("small", 0, 2),)


def test_quotas_are_given_back_by_a_gang_that_is_short() -> None:
    short, fitting = equal("short", 5, 5), equal("fitting", 4, 4)

    answer = planned([short, fitting], [sized("small", SMALL)], cores_max=4)

    assert [each.is_met for each in answer.gangs] == [False, True]
    assert answer.sizes == (("small", 0, 2),)


def test_further_pods_of_a_gang_are_pods_like_any_other() -> None:
    answer = planned([equal("g", 6, 4)], [sized("small", SMALL, max_size=2)])

    assert only(answer).is_met
    assert only(answer).tally.running == 4
    assert [[each.name for each in stuck.pods] for stuck in answer.stuck] == [["g-4", "g-5"]]


def test_gangs_that_are_alike_lack_the_same() -> None:
    gangs = [equal(name, 3, 3) for name in ("a", "b", "c")]

    answer = planned(gangs, [sized("small", SMALL, max_size=1)])

    assert [each.gang.name for each in answer.gangs] == ["a", "b", "c"]
    assert {each.tally.missing for each in answer.gangs} == {1}
    assert {(each.nodes_needed, each.nodes_allowed) for each in answer.gangs} == {(2, 1)}


def test_nodes_of_minimum_sizes_may_be_what_a_gang_lacks() -> None:
    # Without a price nobody would grow the group for pods; raising it adds what the gang lacks.
    answer = planned(
        [equal("g", 4, 4)],
        [sized("small", SMALL, min_size=2)],
        manner=Manner(raises_to_minimum=True),
        chain=(prices(preferred=2),),
    )

    assert only(answer).is_met
    assert answer.sizes == (("small", 0, 2),)


def test_pods_of_a_short_gang_do_not_use_raised_nodes_one_by_one() -> None:
    groups = [sized("small", SMALL, min_size=2, max_size=2)]
    manner = Manner(raises_to_minimum=True)

    answer = planned([equal("g", 5, 5)], groups, pod("p", cpu=2), manner=manner)

    assert not only(answer).is_met
    served = [each.name for step in answer.steps for new in step.nodes for each in new.pods]
    assert served == ["p"]
    assert answer.sizes == (("small", 0, 2),)
