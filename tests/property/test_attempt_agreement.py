"""An attempt says what the plain one says: with nominated pods, budgets, and rules between pods."""

from collections.abc import Sequence

from hypothesis import event, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.base.selectors import label_selector
from springtide.base.taints import Taint
from springtide.engine.attempt import Attempt, Setting, attempt
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.framework import Framework
from springtide.engine.framework.nominated import Nominations, Nominee
from springtide.engine.placement.classes import standing_holding
from springtide.engine.preemption import Evictable, Residents
from springtide.model.disruption import DisruptionBudget
from springtide.model.ledger import Ledger
from springtide.model.neighbours import AffinityTerm, Neighbours, SpreadConstraint
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Container, HostPort, Pod, PodSpec
from springtide.model.presence import standing
from tests.builders import resources
from tests.reference import attempt as reference

NAMES = [f"n{index}" for index in range(4)]
PRIORITIES = st.sampled_from([0, 0, 10, 100, 1000])
APPS = st.sampled_from(["a", "b"])
KEYS = st.sampled_from(["zone", HOSTNAME_LABEL])
SELECTORS = st.builds(lambda app: label_selector({"app": app}), APPS)
TERMS = st.builds(AffinityTerm, topology_key=KEYS, selector=SELECTORS)
OWN = st.just(Neighbours()) | st.builds(
    Neighbours,
    affinity=st.lists(TERMS, max_size=1).map(tuple),
    anti_affinity=st.lists(TERMS, max_size=1).map(tuple),
    spread=st.lists(
        st.builds(SpreadConstraint, max_skew=st.just(1), topology_key=KEYS, selector=SELECTORS),
        max_size=1,
    ).map(tuple),
)
"""What the pending pod asks; others ask nothing, so that no rule has only them to look at."""
CONTAINERS = st.builds(
    lambda cpu, port: Container(
        name="any",
        requests=resources({"cpu": cpu}),
        host_ports=(HostPort(port=port),) if port else (),
    ),
    st.sampled_from([0, 1, 2, 3]),
    st.sampled_from([0, 0, 80]),
)
STARTED = st.sampled_from(["", *(f"2026-01-01T00:0{minute}:00Z" for minute in range(3))])
BUDGETS = st.builds(
    DisruptionBudget,
    namespace=st.sampled_from(["default", "default", "team"]),
    name=st.sampled_from(["x", "y"]),
    selector=st.none() | st.just(label_selector({})) | SELECTORS | SELECTORS,
    allowed=st.sampled_from([0, 0, 1]),
    going=st.frozensets(st.sampled_from(["p0", "p1"]), max_size=1),
)


@st.composite
def specs(draw: st.DrawFn, neighbours: st.SearchStrategy[Neighbours]) -> PodSpec:
    """Draw what a pod asks."""
    return PodSpec(
        containers=(draw(CONTAINERS),), priority=draw(PRIORITIES), neighbours=draw(neighbours)
    )


@st.composite
def pods(draw: st.DrawFn, name: str, neighbours: st.SearchStrategy[Neighbours]) -> Pod:
    """Draw a pod."""
    return Pod(
        namespace="default",
        name=name,
        uid=name,
        labels=draw(st.sampled_from([{}, {"app": "a"}, {"app": "b"}])),
        spec=draw(specs(neighbours)),
        started=draw(STARTED),
    )


@st.composite
def clusters(draw: st.DrawFn) -> reference.Cluster:
    """Draw a few full nodes."""
    nodes = [_node(draw, name) for name in NAMES[: draw(st.integers(1, 3))]]
    places = st.sampled_from(nodes).map(lambda node: node.name)
    alone = st.just(Neighbours())
    running = [
        replace(
            draw(pods(f"p{index}", alone)),
            node_name=draw(places),
            is_preempted=draw(st.sampled_from([False, False, False, True])),
        )
        for index in range(draw(st.integers(2, 9)))
    ]
    nominated = [
        replace(draw(pods(f"w{index}", alone)), nominated_node=draw(places))
        for index in range(draw(st.integers(0, 2)))
    ]
    budgets = draw(st.lists(BUDGETS, max_size=2, unique_by=lambda budget: budget.key))
    return reference.Cluster(nodes=nodes, running=running, nominated=nominated, budgets=budgets)


def _node(draw: st.DrawFn, name: str) -> Node:
    return Node(
        name=name,
        labels={HOSTNAME_LABEL: name, "zone": draw(APPS)},
        taints=draw(st.sampled_from([(), (), (), (Taint(key="gpu"),)])),
        allocatable=resources({"cpu": draw(st.integers(2, 5)), "pods": draw(st.integers(2, 9))}),
    )


@st.composite
def pending(draw: st.DrawFn) -> Pod:
    """Draw the pod that waits."""
    pod = draw(pods("pending", OWN))
    asked = Container(name="more", requests=resources({"cpu": draw(st.integers(0, 2))}))
    return replace(
        pod,
        spec=replace(
            pod.spec,
            containers=(*pod.spec.containers, asked),
            priority=draw(st.sampled_from([0, 100, 1000, 1000])),
            may_preempt=draw(st.sampled_from([True] * 7 + [False])),
        ),
        nominated_node=draw(st.sampled_from(["", "", "n0", "gone"])),
    )


def made(pod: Pod, cluster: reference.Cluster) -> tuple[Attempt, Ledger]:
    """Return our attempt, and the ledger that it was made on."""
    ledger = Ledger()
    for node in cluster.nodes:
        ledger.add_node(node)
    for each in cluster.running:
        row = ledger.rows[each.node_name]
        ledger.hold(standing_holding(each, row, presence=standing(each)))
    setting = Setting(
        overlay=Overlay(ledger),
        framework=Framework(cluster.config),
        nominations=Nominations(_nominees(cluster.nominated, ledger)),
        evictable=Evictable(
            residents=Residents((ledger.rows[each.node_name], each) for each in cluster.running),
            budgets=tuple(cluster.budgets),
        ),
    )
    return attempt(pod, ask_of(pod, with_identity=True), setting), ledger


def _nominees(waiting: Sequence[Pod], ledger: Ledger) -> list[Nominee]:
    return [
        Nominee(
            each,
            standing_holding(each, ledger.rows[each.nominated_node], presence=standing(each)),
        )
        for each in waiting
    ]


@settings(max_examples=150)
@given(clusters(), pending())
def test_an_attempt_says_what_the_plain_one_says(cluster: reference.Cluster, pod: Pod) -> None:
    expected = reference.statuses(pod, cluster)

    ours, ledger = made(pod, cluster)

    said: dict[str, reference.Status | None] = dict.fromkeys(expected)
    for refusal, rows in ours.refusals():
        for row in rows.tolist():
            said[ours.names[row]] = (refusal.rule, refusal.is_unresolvable, refusal.reasons)
    assert said == expected
    ledger.check()
    if None not in expected.values():
        text, chosen = reference.preemption(pod, cluster)
        assert ours.post_filter is not None
        assert ours.post_filter.message == f"preemption: {text}"
        victims = ours.post_filter.preempted and ours.post_filter.preempted.victims
        assert (victims.pods if victims else None) == (tuple(chosen.victims) if chosen else None)
        event("victims" if chosen else "none")
