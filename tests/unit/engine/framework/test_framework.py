"""All rules together: whose verdict counts, and what PreFilter makes of an ask."""

import numpy as np
import pytest

from springtide.base.selectors import NodeSelectorRequirement, NodeSelectorTerm
from springtide.base.taints import Taint
from springtide.engine.framework.ask import PodAsk, ask_of
from springtide.engine.framework.framework import OUTSIDE, Framework, FrameworkConfig, PreparedAsk
from springtide.engine.framework.preparation import Preparation
from springtide.engine.framework.rule import SKIPPED, Prepared, Reads, selection
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.pod import Pod, PodSpec
from springtide.model.refusal import Refusal
from tests.unit.engine.framework.asking import (
    answer,
    answers,
    asked,
    container,
    ledger_of,
    pod,
    resolvable,
    roomy,
    unresolvable,
)


class Named:
    """A rule that is only asked for its name and what it reads."""

    def __init__(self, name: str, reads: Reads = Reads.NODE) -> None:
        self.name = name
        self.reads = reads

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        return SKIPPED


def in_order(*rules: Named) -> Preparation:
    preparation = Preparation()
    for rule in rules:
        preparation.ask(rule)
    return preparation


def outcome(preparation: Preparation) -> PreparedAsk:
    return preparation.prepared(first_usage_code=0)


def names(node: str) -> PodSpec:
    field = NodeSelectorRequirement(key="metadata.name", operator="In", values=(node,))
    return PodSpec(required_node_terms=(NodeSelectorTerm(fields=(field,)),))


def test_rules_are_in_the_order_of_kube_scheduler() -> None:
    assert [rule.name for rule in Framework().rules] == [
        "NodeName",
        "NodeUnschedulable",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
        "DynamicResources",
        "NodeDeclaredFeatures",
    ]


def test_the_first_rule_that_refuses_has_the_word() -> None:
    node = Node(name="node", is_unschedulable=True, taints=(Taint(key="gpu"),))

    refusal = answer(PodSpec(node_selector=(("zone", "a"),)), node)

    assert refusal == unresolvable("NodeUnschedulable", "node(s) were unschedulable")


def test_a_disabled_rule_judges_no_row_but_still_restricts() -> None:
    config = FrameworkConfig(disabled=frozenset({"NodeName", "NodeUnschedulable"}))
    nodes = [Node(name="a", is_unschedulable=True, allocatable=asked({"pods": 9})), roomy("b")]

    assert answers(pod(on="a"), nodes, config=config) == [
        None,
        unresolvable("", "node(s) didn't satisfy plugin(s) [NodeName]"),
    ]


def test_rules_that_name_different_nodes_leave_none() -> None:
    refusals = answers(pod(names("b"), on="a"), [roomy("a"), roomy("b")])

    text = "node(s) didn't satisfy plugin(s) [NodeAffinity NodeName] simultaneously"
    assert refusals == [unresolvable("", text)] * 2


def test_rules_that_name_the_same_node_are_both_told_to_the_others() -> None:
    refusals = answers(pod(names("a"), on="a"), [roomy("a"), roomy("b")])

    text = "node(s) didn't satisfy plugin(s) [NodeAffinity NodeName]"
    assert refusals == [None, unresolvable("", text)]


def test_a_named_node_that_is_not_there_leaves_all_others_outside() -> None:
    ledger = ledger_of([roomy("a")])
    framework = Framework()

    prepared = framework.prepare(ask_of(pod(on="gone")), ledger)
    verdicts = framework.evaluate(prepared, ledger, np.arange(1))

    assert prepared.rejection is None
    assert verdicts.rule.tolist() == [OUTSIDE]


def test_each_rule_can_be_asked_about_a_row_that_another_one_settled() -> None:
    ledger = ledger_of([roomy("a"), roomy("b")])
    check = dict(Framework().prepare(ask_of(pod(on="a")), ledger).node_checks)[2]

    found = check.evaluate(ledger, selection(np.arange(2)))

    assert found is not None
    assert found.refused.tolist() == [False, True]
    assert check.reasons(1) == ("node(s) didn't match the requested node name",)


def test_placements_do_not_unsettle_what_the_node_decides() -> None:
    framework = Framework()
    codes = np.arange(9, dtype=np.uint8)

    settled = framework.is_settled(codes)

    assert settled.tolist() == [False, True, True, True, True, True, False, False, False]


def test_few_rows_that_are_left_are_judged_as_all_rows_are() -> None:
    used = PodSpec(containers=(container({"cpu": 4}),))
    full = Node(name="full", labels={"zone": "a"}, allocatable=asked({"cpu": 4, "pods": 9}))
    nodes = [*(roomy(f"other-{index}") for index in range(9)), full]

    found = answers(pod(PodSpec(containers=used.containers, node_selector=(("zone", "a"),))), nodes)
    taken = answers(
        pod(PodSpec(containers=used.containers, node_selector=(("zone", "a"),))),
        nodes,
        [pod(used, name="running", on="full")],
    )

    assert found[-1] is None
    assert taken[-1] == resolvable("NodeResourcesFit", "Insufficient cpu")


def test_no_rows_are_no_trouble() -> None:
    ledger = ledger_of([roomy()])
    framework = Framework()
    prepared = framework.prepare(ask_of(pod()), ledger)

    verdicts = framework.evaluate(prepared, ledger, np.zeros(0, np.intp))

    assert len(verdicts.rule) == 0


def test_only_an_unresolvable_rejection_ends_the_asking() -> None:
    preparation = in_order(Named("First"))

    preparation.reject(Refusal(rule="First", reasons=("try eviction",)))
    goes_on = preparation.is_over
    preparation.reject(Refusal(rule="Second", reasons=("hopeless",), is_unresolvable=True))

    assert not goes_on
    assert preparation.is_over
    assert outcome(preparation).rejection == unresolvable("Second", "hopeless")


def test_a_rejection_is_what_every_row_is_told() -> None:
    refusal = Refusal(rule="Any", reasons=("try eviction",))
    preparation = in_order(Named("Any"))
    preparation.reject(refusal)
    framework, ledger = Framework(), ledger_of([roomy()])

    prepared = outcome(preparation)
    verdicts = framework.evaluate(prepared, ledger, np.arange(1))

    assert verdicts.rule.tolist() == [OUTSIDE]
    assert verdicts.unresolvable.tolist() == [False]
    assert framework.refusal(prepared, OUTSIDE, 1, unresolvable=False) is refusal


def test_a_rule_that_leaves_no_node_by_itself_is_named_alone() -> None:
    preparation = in_order(Named("Any"))

    preparation.restrict(Named("Any"), frozenset())

    told = unresolvable("", "node(s) didn't satisfy plugin Any")
    assert outcome(preparation).rejection == told


def test_a_rule_that_cannot_judge_stops_everything() -> None:
    preparation = in_order(Named("Any"))
    framework, ledger = Framework(), ledger_of([roomy()])

    preparation.fail(Named("Any"), "no selector")
    prepared = outcome(preparation)

    assert preparation.is_over
    assert prepared.error == 'running PreFilter plugin "Any": no selector'
    assert framework.evaluate(prepared, ledger, np.arange(1)).rule.tolist() == [OUTSIDE]


@pytest.mark.parametrize(
    ("reads", "is_lasting"), [(Reads.NODE, True), (Reads.USAGE, True), (Reads.CLUSTER, False)]
)
def test_what_depends_on_the_whole_cluster_does_not_last(reads: Reads, *, is_lasting: bool) -> None:
    assert outcome(in_order(Named("Any", reads))).is_lasting == is_lasting


def test_labels_count_only_where_a_rule_reads_them() -> None:
    spec = PodSpec()
    labelled = Pod(namespace="team", name="a", uid="a", spec=spec, labels={"z": "1", "a": "2"})

    assert ask_of(labelled) == PodAsk(spec=spec)
    assert ask_of(labelled, with_identity=True) == PodAsk(
        spec=spec, namespace="team", labels=(("a", "2"), ("z", "1"))
    )


def test_ports_and_resources_may_change_after_the_ask_was_prepared() -> None:
    spec = PodSpec(containers=(container({"vendor.io/new": 1}),))
    framework, ledger = Framework(), ledger_of([roomy("old")])
    prepared = framework.prepare(ask_of(pod(spec)), ledger)

    before = framework.evaluate(prepared, ledger, np.arange(1)).rule.tolist()
    ledger.add_node(Node(name="new", allocatable=asked({"pods": 9, "vendor.io/new": 1})))
    after = framework.evaluate(prepared, ledger, np.arange(2)).rule.tolist()

    assert before == [7]
    assert after == [7, 0]
