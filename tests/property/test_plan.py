"""Laws of the plan."""

from collections import Counter
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.engine.capacity.plan import plan
from springtide.engine.capacity.quotas import Quota
from springtide.engine.capacity.quotas import content as counted
from springtide.engine.capacity.scene import Bounds, Manner
from springtide.engine.capacity.similarity import Similarity
from springtide.engine.capacity.situation import Plan, Situation, SizedGroup
from springtide.engine.framework.ask import keys_read
from springtide.engine.placement.classes import Classifier, standing_holding
from springtide.engine.simulation.templates import Template
from springtide.model.group import NodeGroup
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.policies.expanders import LeastWaste
from tests.builders import card, cards, mig_card, node, pod, replicas, spread, term
from tests.estimates import FAMILIES, HandClock, tables_of, template
from tests.ledgers import NODES, content, holdings, inventories_of

TEMPLATES: Sequence[Template | Refusal] = (
    template(node(cpu=2)),
    template(node(cpu=16, labels={"pool": "big"}), pods=[pod("agent", cpu="500m", ports=[81])]),
    template(node(cpu=8), devices=cards(2)),
    template(node(cpu=8), devices=[card(memory=50000)]),
    template(node(cpu=8, pods=5), devices=[mig_card(), mig_card("GPU-1")]),
    Refusal(rule="template", reasons=("no template: nobody knows",), is_unresolvable=True),
)
PODS: st.SearchStrategy[Pod] = st.builds(
    pod,
    cpu=st.sampled_from(["0", "300m", "1", "5"]),
    gpu=st.sampled_from([0, 0, 1, 2]),
    gpumem=st.sampled_from([1000, 9000, 20000, 40000]),
    gpucores=st.sampled_from([0, 60]),
    ports=st.sampled_from([(), (), (80,), (81,)]),
    selector=st.sampled_from([{}, {}, {}, {"pool": "big"}]),
    terms=st.sampled_from([None, None, (term("kubernetes.io/hostname", "NotIn", "nobody"),)]),
    priority=st.sampled_from([0, 0, 5]),
)


@st.composite
def ledgers(draw: st.DrawFn) -> Ledger:
    """Draw a cluster of a few nodes that are in use."""
    ledger = Ledger()
    kinds = draw(st.lists(st.integers(0, len(NODES) - 1), max_size=5))
    for index, kind in enumerate(kinds):
        row = ledger.add_node(NODES[kind], inventories_of(kind), name=f"old-{index}")
        held = draw(holdings(row, kind))
        if held.uid not in ledger.holdings:
            ledger.hold(held)
    return ledger


@st.composite
def groups(draw: st.DrawFn) -> list[SizedGroup]:
    """Draw groups with room for a few nodes."""
    found = []
    for index, given_template in enumerate(draw(st.lists(st.sampled_from(TEMPLATES), max_size=4))):
        group = NodeGroup(
            name=f"g{index}",
            min_size=draw(st.integers(0, 3)),
            max_size=draw(st.integers(3, 5)),
            is_zero_or_max=draw(st.sampled_from([False, False, False, True])),
        )
        of = given_template
        if isinstance(of, Template):
            of = replace(of, group=group, node=replace(of.node, name=f"template-{group.name}"))
        size = draw(st.integers(0, group.max_size))
        found.append(SizedGroup(group=group, size=size, template=of))
    return found


PENDING = st.lists(PODS, max_size=5).flatmap(
    lambda firsts: st.tuples(*[st.integers(1, 6) for _ in firsts]).map(
        lambda counts: [
            each
            for index, (first, count) in enumerate(zip(firsts, counts, strict=True))
            for each in replicas(count, replace(first, name=f"p{index}", uid=f"p{index}"))
        ]
    )
)


MANNERS = st.builds(
    Manner,
    similarity=st.sampled_from([None, Similarity(free_difference_max=0.4)]),
    raises_to_minimum=st.booleans(),
)


def planned(
    ledger: Ledger,
    given_groups: Sequence[SizedGroup],
    pending: Sequence[Pod],
    manner: Manner | None = None,
    *,
    cores_max: int = 0,
) -> Plan:
    """Return the plan."""
    quotas = (Quota(limits=(("cpu", cores_max),)),) if cores_max else ()
    return plan(
        Situation(
            tables=tables_of(ledger),
            classifier=Classifier(FAMILIES, keys=keys_read(each.spec for each in pending)),
            pending=pending,
            groups=given_groups,
            clock=HandClock(),
            bounds=Bounds(nodes_per_step_max=3, quotas=quotas),
            manner=manner or Manner(),
        ),
        (LeastWaste(),),
    )


@settings(max_examples=60)
@given(ledgers(), groups(), PENDING, MANNERS)
def test_a_plan_changes_nothing(
    ledger: Ledger, given_groups: list[SizedGroup], pending: list[Pod], manner: Manner
) -> None:
    before = content(ledger)

    planned(ledger, given_groups, pending, manner)

    ledger.check()
    assert content(ledger) == before


@settings(max_examples=60)
@given(ledgers(), groups(), PENDING, MANNERS)
def test_every_pod_and_every_new_node_is_accounted_for(
    ledger: Ledger, given_groups: list[SizedGroup], pending: list[Pod], manner: Manner
) -> None:
    answer = planned(ledger, given_groups, pending, manner)

    placed = [each for step in answer.steps for new in step.nodes for each in new.pods]
    everyone = [*(each for each, _ in answer.fitting), *placed]
    everyone += [each for stuck in answer.stuck for each in stuck.pods]
    assert Counter(each.uid for each in everyone) == Counter(each.uid for each in pending)
    grown: Counter[str] = Counter()
    for step in answer.steps:
        grown[step.group.name] += len(step.nodes)
    for item, (name, before, after) in zip(given_groups, answer.sizes, strict=True):
        assert (name, before) == (item.group.name, item.size)
        assert before + grown[name] <= after <= item.group.max_size
        if item.group.is_zero_or_max:
            assert after in {before, item.group.max_size}
        elif manner.similarity is None:
            # Beside a group of all or none, only one below its minimum has nodes that no pod needs.
            assert after == before + grown[name] or after == item.group.min_size
        if manner.raises_to_minimum and isinstance(item.template, Template):
            assert after >= item.group.min_size


@settings(max_examples=60)
@given(ledgers(), groups(), PENDING, MANNERS, st.integers(1, 60))
def test_a_plan_stays_within_the_limits_of_the_cluster(
    ledger: Ledger,
    given_groups: list[SizedGroup],
    pending: list[Pod],
    manner: Manner,
    cores_max: int,
) -> None:
    templates = {item.group.name: item.template for item in given_groups}
    cores = sum(counted(each)["cpu"] for each in ledger.nodes)

    answer = planned(ledger, given_groups, pending, manner, cores_max=cores_max)

    grown = 0
    for step in answer.steps:
        of = templates[step.group.name]
        assert isinstance(of, Template)
        grown += (step.size_after - step.size_before) * counted(of.node)["cpu"]
    assert grown == 0 or cores + grown <= cores_max


@settings(max_examples=60)
@given(ledgers(), groups(), PENDING, MANNERS)
def test_what_is_planned_for_a_new_node_fits_it(
    ledger: Ledger, given_groups: list[SizedGroup], pending: list[Pod], manner: Manner
) -> None:
    templates = {item.group.name: item.template for item in given_groups}

    answer = planned(ledger, given_groups, pending, manner)

    for step in answer.steps:
        of = templates[step.group.name]
        assert isinstance(of, Template)
        for new in step.nodes:
            # One after the other, as they were placed.
            pods = [replace(each, spec=replace(each.spec, priority=0)) for each in new.pods]
            fitting = planned(alone(of, new.name), (), pods).fitting
            assert [(each.uid, on) for each, on in fitting] == [
                (each.uid, new.name) for each in new.pods
            ]


def alone(of: Template, name: str) -> Ledger:
    """Return a cluster of one new node with the pods that it starts with."""
    ledger = Ledger()
    row = ledger.add_node(of.node, dict(of.inventories), name=name)
    for each in of.pods:
        ledger.hold(standing_holding(each, row))
    return ledger


ZONES = ("a", "b", "c")


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 4), min_size=3, max_size=3),
    st.lists(st.sampled_from(ZONES), max_size=4),
    st.integers(1, 20),
    st.integers(1, 2),
    MANNERS,
)
def test_pods_are_never_planned_more_unevenly_than_they_say(
    cores: list[int], grown_zones: list[str], count: int, skew: int, manner: Manner
) -> None:
    # Every zone has a node already, so that no new one appears and makes the others uneven.
    ledger = Ledger()
    for zone, size in zip(ZONES, cores, strict=True):
        ledger.add_node(node(f"old-{zone}", cpu=size, labels={"zone": zone}))
    growing = [zoned(f"g{index}", zone) for index, zone in enumerate(grown_zones)]
    asked = pod("p", cpu=1, labels={"app": "a"}, neighbours=spread("zone", skew=skew))

    answer = planned(ledger, growing, replicas(count, asked), manner)

    where = {f"old-{zone}": zone for zone in ZONES}
    in_zones = Counter(where[on] for _, on in answer.fitting)
    for step in answer.steps:
        zone = grown_zones[int(step.group.name[1:])]
        in_zones[zone] += sum(len(each.pods) for each in step.nodes)
    counts = [in_zones[zone] for zone in ZONES]
    assert max(counts) - min(counts) <= skew
    assert sum(counts) + sum(len(each.pods) for each in answer.stuck) == count


def zoned(name: str, zone: str) -> SizedGroup:
    """Return a group of nodes in one zone."""
    group = NodeGroup(name=name, max_size=3)
    of = template(node(f"template-{name}", cpu=3, labels={"zone": zone}))
    return SizedGroup(group=group, size=0, template=replace(of, group=group))
