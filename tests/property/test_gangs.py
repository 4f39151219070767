"""Laws of plans with gangs."""

from collections import Counter
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.engine.capacity.plan import plan
from springtide.engine.capacity.scene import Bounds, Manner
from springtide.engine.capacity.situation import Plan, Situation, SizedGroup
from springtide.engine.framework.ask import keys_read
from springtide.engine.gang.ground import StandingNodes
from springtide.engine.gang.shortfall import shortfall
from springtide.engine.placement.classes import Classifier
from springtide.model.gang import Gang, Member, Task
from springtide.model.ledger import Ledger
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.policies.expanders import LeastWaste
from tests.estimates import FAMILIES, HandClock, tables_of
from tests.ledgers import content
from tests.property.test_plan import MANNERS, PODS, groups, ledgers

TASKS = ("a", "b")


@st.composite
def gang_cases(draw: st.DrawFn) -> tuple[list[Pod], list[Gang]]:
    """Draw pods, some of which form gangs, in any order."""
    ordinary = [
        replace(draw(PODS), name=f"p{index}", uid=f"p{index}")
        for index in range(draw(st.integers(0, 6)))
    ]
    gangs = [draw(gang(f"g{index}")) for index in range(draw(st.integers(1, 4)))]
    pods = [*ordinary, *(each for one in gangs for each in one.pods)]
    return draw(st.permutations(pods)), gangs


@st.composite
def gang(draw: st.DrawFn, name: str) -> Gang:
    """Draw a gang of a few pods, most of them alike."""
    first, other = draw(PODS), draw(PODS)
    kinds = draw(st.lists(st.sampled_from([first, first, other]), min_size=1, max_size=6))
    members = tuple(
        Member(
            replace(each, name=f"{name}-{index}", uid=f"{name}-{index}"),
            draw(st.sampled_from(TASKS)),
        )
        for index, each in enumerate(kinds)
    )
    minimum = draw(st.integers(1, len(members) + 1))
    tasks = draw(st.sampled_from([(), (), (Task(name="a", minimum=1),)]))
    return Gang(
        api="test",
        namespace="default",
        name=name,
        minimum=minimum,
        tasks=tasks,
        standing=draw(st.integers(0, 1)),
        waiting=members,
    )


def planned(
    ledger: Ledger,
    given_groups: Sequence[SizedGroup],
    pending: Sequence[Pod],
    gangs: Sequence[Gang],
    manner: Manner | None = None,
) -> Plan:
    """Return the plan."""
    return plan(
        Situation(
            tables=tables_of(ledger),
            classifier=Classifier(FAMILIES, keys=keys_read(each.spec for each in pending)),
            pending=pending,
            gangs=gangs,
            groups=given_groups,
            clock=HandClock(),
            bounds=Bounds(nodes_per_step_max=3),
            manner=manner or Manner(),
        ),
        (LeastWaste(),),
    )


def running(answer: Plan) -> set[str]:
    """Return the uids of all pods that have a place under the plan."""
    new = (each.uid for step in answer.steps for node in step.nodes for each in node.pods)
    return {*(each.uid for each, _ in answer.fitting), *new}


@settings(max_examples=150)
@given(ledgers(), groups(), gang_cases(), MANNERS)
def test_a_gang_is_never_planned_in_part(
    ledger: Ledger,
    given_groups: list[SizedGroup],
    case: tuple[list[Pod], list[Gang]],
    manner: Manner,
) -> None:
    pending, gangs = case
    before = content(ledger)

    answer = planned(ledger, given_groups, pending, gangs, manner)

    ledger.check()
    assert content(ledger) == before
    there = running(answer)
    for gang, told in zip(gangs, answer.gangs, strict=True):
        mine = [member for member in gang.waiting if member.pod.uid in there]
        assert told.gang == gang
        if told.is_met:
            assert gang.standing + len(mine) == told.tally.running >= gang.minimum
            counts = Counter(member.task for member in mine)
            assert all(counts[task.name] >= task.minimum for task in gang.tasks)
        else:
            assert not mine
            assert told.tally.missing


@settings(max_examples=80)
@given(ledgers(), groups(), gang_cases(), MANNERS)
def test_every_pod_is_accounted_for(
    ledger: Ledger,
    given_groups: list[SizedGroup],
    case: tuple[list[Pod], list[Gang]],
    manner: Manner,
) -> None:
    pending, gangs = case

    answer = planned(ledger, given_groups, pending, gangs, manner)

    everyone = [*running(answer)]
    everyone += [each.uid for stuck in answer.stuck for each in stuck.pods]
    everyone += [each.uid for told in answer.gangs if not told.is_met for each in told.gang.pods]
    assert Counter(everyone) == Counter(each.uid for each in pending)


def without_gangs(answer: Plan) -> Plan:
    """Return the plan without what it says of gangs."""
    return replace(answer, gangs=())


@settings(max_examples=80)
@given(ledgers(), groups(), gang_cases(), MANNERS)
def test_gangs_that_all_fit_change_nothing(
    ledger: Ledger,
    given_groups: list[SizedGroup],
    case: tuple[list[Pod], list[Gang]],
    manner: Manner,
) -> None:
    pending, gangs = case
    alone = planned(ledger, given_groups, pending, (), manner)
    there = running(alone)
    # Of every gang, what fits is made its minimum.
    modest = [
        replace(each, minimum=max(1, sum(pod.uid in there for pod in each.pods)), tasks=())
        for each in gangs
    ]
    fitting = [each for each in modest if any(pod.uid in there for pod in each.pods)]

    answer = planned(ledger, given_groups, pending, fitting, manner)

    assert all(each.is_met for each in answer.gangs)
    assert without_gangs(answer) == alone


@settings(max_examples=80)
@given(ledgers(), groups(), gang_cases(), MANNERS)
def test_a_gang_that_cannot_fit_is_as_if_it_were_not_there(
    ledger: Ledger,
    given_groups: list[SizedGroup],
    case: tuple[list[Pod], list[Gang]],
    manner: Manner,
) -> None:
    pending, gangs = case
    hopeless = [replace(each, minimum=99) for each in gangs]
    members = {pod.uid for each in gangs for pod in each.pods}
    others = [each for each in pending if each.uid not in members]

    answer = planned(ledger, given_groups, pending, hopeless, manner)

    assert not any(each.is_met for each in answer.gangs)
    alone = planned(ledger, given_groups, others, (), manner)
    assert (answer.fitting, answer.steps, answer.sizes) == (alone.fitting, alone.steps, alone.sizes)


@settings(max_examples=60)
@given(ledgers(), gang("g"))
def test_a_shortfall_leaves_nothing_behind(ledger: Ledger, gang: Gang) -> None:
    before = content(ledger)
    overlay = Overlay(ledger)
    classifier = Classifier(FAMILIES, keys=keys_read(each.spec for each in gang.pods))
    ground = StandingNodes(tables_of(ledger), overlay, classifier)

    found = shortfall(gang, ground)

    assert content(ledger) == before
    assert overlay.depth == 0
    assert found.tally.running == gang.standing + len(gang.waiting) - len(found.left)
    if not gang.tasks:
        assert found.tally.missing == max(0, gang.minimum - found.tally.running)
