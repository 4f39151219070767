"""Whole attempts: who takes the pod, and what is said if nobody does."""

import pytest
from msgspec.structs import replace

from springtide.base.selectors import NodeSelectorRequirement, NodeSelectorTerm
from springtide.base.taints import Taint
from springtide.engine.attempt import Code, Outcome, Setting, event_text, explained
from springtide.engine.framework.framework import FrameworkConfig
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.pod import Pod
from springtide.model.storage import Storage
from springtide.model.volumes import ClaimVolume
from tests.builders import node, spread
from tests.unit.engine.attempt.attempting import attempted, pod, setting

TAINTED = "node(s) had untolerated taint(s)"
NO_HELP = "Preemption is not helpful for scheduling"


def named(name: str, *, cpu: int = 8) -> Node:
    return node(name, cpu=cpu, labels={HOSTNAME_LABEL: name})


def fitting(memory: str, *names: str) -> Pod:
    plain = pod(memory=memory)
    field = NodeSelectorRequirement(key="metadata.name", operator="In", values=names)
    term = NodeSelectorTerm(expressions=(), fields=(field,))
    return replace(plain, spec=replace(plain.spec, required_node_terms=(term,)))


def claiming() -> Pod:
    plain = pod()
    return replace(plain, spec=replace(plain.spec, volumes=(ClaimVolume("c"),)))


TABLE: list[tuple[str, Pod, Setting, str, str]] = [
    (
        "M1",
        pod(cpu=4, memory="8Gi"),
        setting(
            [
                node("n0", cpu=2),
                node("n1", cpu=2, memory="4Gi"),
                node("n2", is_unschedulable=True),
            ]
        ),
        "",
        (
            "0/3 nodes are available: 1 Insufficient memory, 1 node(s) were unschedulable, "
            f"2 Insufficient cpu. preemption: 0/3 nodes are available: 3 {NO_HELP}."
        ),
    ),
    (
        "M2",
        pod(cpu=4),
        setting(
            [
                *(node(f"n{index}", cpu=2) for index in range(10)),
                *(node(f"t{index}", taints=[Taint(key="gpu")]) for index in range(2)),
            ]
        ),
        "",
        (
            f"0/12 nodes are available: 10 Insufficient cpu, 2 {TAINTED}. "
            f"preemption: 0/12 nodes are available: 12 {NO_HELP}."
        ),
    ),
    (
        "M3",
        fitting("128Gi", "n0"),
        setting(
            [node(f"n{index}") for index in range(5)],
            config=FrameworkConfig(post_filters=("DynamicResources",)),
        ),
        "no new claims to deallocate",
        (
            "0/5 nodes are available: 1 Insufficient memory, "
            "4 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to deallocate"
        ),
    ),
    (
        "M4",
        claiming(),
        setting([node("n0"), node("n1")], storage=Storage()),
        "",
        '0/2 nodes are available: persistentvolumeclaim "c" not found. not found',
    ),
    (
        "M4 without DynamicResources",
        claiming(),
        setting(
            [node("n0"), node("n1")],
            storage=Storage(),
            config=FrameworkConfig(post_filters=("DefaultPreemption",)),
        ),
        "",
        (
            '0/2 nodes are available: persistentvolumeclaim "c" not found. '
            f"preemption: 0/2 nodes are available: 2 {NO_HELP}."
        ),
    ),
    (
        "both say why not",
        pod(cpu=4),
        setting([node("n0", cpu=2)]),
        "still not schedulable",
        (
            "0/1 nodes are available: 1 Insufficient cpu. still not schedulable, "
            f"preemption: 0/1 nodes are available: 1 {NO_HELP}."
        ),
    ),
    ("no node", pod(), setting([]), "", "no nodes available to schedule pods"),
]


@pytest.mark.parametrize(
    ("pending", "there", "deallocation", "text"),
    [pytest.param(*rest, id=name) for name, *rest in TABLE],
)
def test_a_pod_without_a_node_is_told_what_kube_scheduler_tells_it(
    pending: Pod, there: Setting, deallocation: str, text: str
) -> None:
    made = attempted(pending, there, deallocation=deallocation)

    assert made.outcome is Outcome.UNSCHEDULABLE
    assert made.text == text


def test_a_pod_that_fits_is_told_nothing() -> None:
    made = attempted(pod(), setting([node("n0", cpu=0), node("n1")]))

    assert made.outcome is Outcome.SCHEDULABLE
    assert made.feasible.tolist() == [1]
    assert (made.text, made.post_filter, made.unschedulable_plugins) == ("", None, ())


def test_a_pod_that_no_rule_can_judge_ends_the_attempt() -> None:
    malformed = spread("zone", app="not a label value!")

    made = attempted(pod(neighbours=malformed), setting([node("n0")]))

    assert made.outcome is Outcome.ERROR
    assert made.text.startswith('running PreFilter plugin "PodTopologySpread": ')
    assert made.post_filter is None


def test_the_plugins_that_restrict_and_refuse_are_named() -> None:
    made = attempted(fitting("128Gi", "n0"), setting([node("n0"), node("n1")]))

    assert made.unschedulable_plugins == ("NodeAffinity", "NodeResourcesFit")


def test_trying_leaves_the_ledger_as_it_was() -> None:
    running = [pod(f"r{index}", on="n0", cpu=2) for index in range(4)]
    there = setting([named("n0")], running, waiting=[pod("first", nominated="n0")])

    made = attempted(pod(cpu=6, priority=5), there)

    assert made.post_filter is not None
    assert made.post_filter.code is Code.SUCCESS
    there.overlay.ledger.check()
    assert there.overlay.ledger.holdings.keys() == {each.uid for each in running}


# Forms


def test_an_event_holds_no_more_than_it_takes() -> None:
    fits, long, wide = "x" * 1024, "x" * 1025, "é" * 513

    assert event_text(fits) == fits
    assert event_text(long) == "x" * 1020 + " ..."
    assert event_text(wide) == "é" * 510 + " ..."


def test_an_attempt_is_explained_for_programs() -> None:
    nodes = [*(node(f"n{index}", cpu=2, memory="1Gi") for index in range(4)), node("big", cpu=2)]

    told = explained(attempted(pod(cpu=4, memory="2Gi"), setting(nodes)))

    assert (told.pod, told.total, told.prefilter) == ("team/pending", 5, None)
    assert [(each.reason, each.count, each.sample_nodes) for each in told.histogram] == [
        ("Insufficient memory", 4, ("n0", "n1", "n2")),
        ("Insufficient cpu", 5, ("n0", "n1", "n2")),
    ]
    assert {each.code for each in told.histogram} == {"UnschedulableAndUnresolvable"}
    assert told.postfilter == f"preemption: 0/5 nodes are available: 5 {NO_HELP}."
    assert told.text.endswith(told.postfilter)


def test_a_rejection_before_all_nodes_is_explained_as_such() -> None:
    told = explained(attempted(claiming(), setting([node("n0")], storage=Storage())))

    assert told.prefilter is not None
    assert told.prefilter.plugin == "VolumeRestrictions"
    assert told.prefilter.reasons == ('persistentvolumeclaim "c" not found',)
    assert told.histogram == ()
