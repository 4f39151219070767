"""InterPodAffinity: the table of its cases.

I16 is about text and stands for itself. I20 holds of pods that a server has stored: recorded of the
scheduler itself, label keys that are not merged into their selector have no effect.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import pytest
from _pytest.mark import ParameterSet
from msgspec.structs import replace

from springtide.base.selectors import LabelSelector, LabelSelectorRequirement, label_selector
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.framework import Framework
from springtide.model.neighbours import ALONE, AffinityTerm, Neighbours
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.pod import Pod, PodSpec
from springtide.model.refusal import Refusal
from springtide.wire.k8s.between import merged
from tests.unit.engine.framework.asking import answers, ledger_of, resolvable, roomy, unresolvable

RULE: Final = "InterPodAffinity"
FAR = unresolvable(RULE, "node(s) didn't match pod affinity rules")
NEAR = resolvable(RULE, "node(s) didn't match pod anti-affinity rules")
REPELLED = resolvable(RULE, "node(s) didn't satisfy existing pods anti-affinity rules")

NODE1 = roomy("node1", {HOSTNAME_LABEL: "node1", "region": "r1", "zone": "z11"})
SCAN = {"service": "securityscan"}


def selects(operator: str, *values: str) -> LabelSelector:
    each = LabelSelectorRequirement(key="service", operator=operator, values=values)
    return LabelSelector(match_expressions=(each,))


def about(selector: LabelSelector, key: str = "region", **more: object) -> AffinityTerm:
    return replace(AffinityTerm(topology_key=key, selector=selector), **more)


def a_pod(
    neighbours: Neighbours = ALONE,
    labels: Mapping[str, str] | None = None,
    *,
    uid: str = "pending",
    on: str = "",
    namespace: str = "default",
) -> Pod:
    return Pod(
        namespace=namespace,
        name=uid,
        uid=uid,
        spec=PodSpec(neighbours=neighbours),
        labels=SCAN if labels is None else labels,
        node_name=on,
    )


def row(
    name: str,
    pending: Pod,
    existing: Pod | None,
    expected: Refusal | None,
    *,
    node: Node = NODE1,
    also: Node | None = None,
) -> ParameterSet:
    """Return one row: a pod, another that is there, and what a node says, maybe beside another."""
    nodes = [node] if also is None else [node, also]
    there = [] if existing is None else [existing]
    return pytest.param(pending, nodes, there, expected, id=name)


EXISTING = a_pod(uid="existing", on="node1")
WANTED = about(selects("In", "securityscan", "value2"))
UNWANTED_HERE = about(selects("In", "securityscan", "value2"), "zone")
HARMLESS = about(selects("In", "antivirusscan"), HOSTNAME_LABEL)


WANTS = a_pod(Neighbours(affinity=(WANTED,)))
"""A pod that wants to be with its like."""
ELSE = {"service": "else"}
NODE2 = roomy("node2", {"region": "r2"})
TEAM = {"team": "x"}


def objecting(operator: str = "In") -> Pod:
    """Return a pod that is there and keeps pods away that its selector selects."""
    terms = (about(selects(operator, "securityscan"), "zone"),)
    return a_pod(Neighbours(anti_affinity=terms), uid="existing", on="node1")


def affine(*terms: AffinityTerm, labels: Mapping[str, str] | None = None) -> Pod:
    return a_pod(Neighbours(affinity=terms), labels)


def averse(*terms: AffinityTerm) -> Pod:
    return a_pod(Neighbours(affinity=(WANTED,), anti_affinity=terms))


def of_team(selector: LabelSelector) -> Pod:
    """Return a pod that wants to be with pods of the namespaces that this selects."""
    return affine(replace(WANTED, namespace_selector=selector), labels={})


def unlike(version: str) -> Pod:
    """Return a pod, as a server stores it, that avoids pods of its app in another version."""
    term = AffinityTerm(
        topology_key="zone", selector=label_selector({"app": "x"}), mismatch_label_keys=("ver",)
    )
    asking = a_pod(Neighbours(anti_affinity=(term,)), {"app": "x", "ver": version})
    return replace(asking, spec=merged(asking.spec, asking.labels))


OF_VERSION_1 = a_pod(labels={"app": "x", "ver": "1"}, uid="existing", on="node1")
IN_TEAM = a_pod(uid="existing", on="node1", namespace="team-x")


@pytest.mark.parametrize(
    ("pending", "nodes", "existing", "expected"),
    [
        row("I1", a_pod(), EXISTING, None),
        row("I2", WANTS, EXISTING, None),
        row("I3", affine(about(selects("NotIn", "securityscan3"))), EXISTING, None),
        row("I4", affine(replace(WANTED, namespaces=("Diff",)), labels=ELSE), EXISTING, FAR),
        row("I5", affine(about(selects("In", "antivirusscan")), labels=ELSE), EXISTING, FAR),
        row("I6", affine(WANTED, about(selects("In", "WrongValue"))), EXISTING, FAR),
        row("I7", averse(HARMLESS), EXISTING, None),
        row("I8", averse(UNWANTED_HERE), EXISTING, NEAR),
        row("I9", averse(HARMLESS), objecting(), REPELLED),
        row("I10", a_pod(), objecting(), REPELLED),
        row("I11", a_pod(), objecting("NotIn"), None),
        row("I12", WANTS, None, None),
        row("I13", WANTS, None, FAR, node=roomy("bare")),
        row("I14 here", WANTS, replace(EXISTING, node_name="node2"), FAR, also=NODE2),
        row("I14 there", WANTS, EXISTING, FAR, node=NODE2, also=NODE1),
        row("I15", averse(about(selects("Exists"), "absent")), EXISTING, None),
        row("I17", of_team(label_selector(TEAM)), IN_TEAM, None),
        row("I18", of_team(label_selector({})), IN_TEAM, None),
        row("I19", averse(UNWANTED_HERE), replace(EXISTING, is_terminating=True), NEAR),
        row("I20 same version", unlike("1"), OF_VERSION_1, None),
        row("I20 other version", unlike("2"), OF_VERSION_1, NEAR),
    ],
)
def test_a_pod_goes_where_both_sides_agree(
    pending: Pod, nodes: Sequence[Node], existing: Sequence[Pod], expected: Refusal | None
) -> None:
    found = answers(pending, nodes, existing, namespaces={"team-x": TEAM})

    assert found[0] == expected


@pytest.mark.parametrize(
    ("pending", "existing"),
    [pytest.param(a_pod(), EXISTING, id="I1"), pytest.param(a_pod(), objecting("NotIn"), id="I11")],
)
def test_a_rule_without_anything_to_say_has_no_check(pending: Pod, existing: Pod) -> None:
    ledger = ledger_of([NODE1], [existing])

    prepared = Framework().prepare(ask_of(pending, with_identity=True), ledger)

    assert prepared.cluster_checks == ()


BROKEN = (about(selects("In", "{{.bad-value.}}")),)


@pytest.mark.parametrize(
    ("neighbours", "told"),
    [
        pytest.param(Neighbours(affinity=BROKEN), "requiredAffinityTerms", id="I16"),
        pytest.param(Neighbours(anti_affinity=BROKEN), "requiredAntiAffinityTerms", id="I16 anti"),
        (Neighbours(preferred_affinity=BROKEN), "preferredAffinityTerms"),
        (Neighbours(preferred_anti_affinity=BROKEN), "preferredAntiAffinityTerms"),
    ],
)
def test_a_malformed_term_rejects_the_pod_even_if_it_is_only_preferred(
    neighbours: Neighbours, told: str
) -> None:
    (refusal,) = answers(a_pod(neighbours), [NODE1], [EXISTING])

    assert refusal is not None
    assert refusal.is_unresolvable
    assert refusal.text.startswith(f"parsing pod: {told}: values[0][service]: Invalid value:")


def test_malformed_terms_of_pods_that_are_there_keep_nobody_away() -> None:
    objection = Neighbours(anti_affinity=(UNWANTED_HERE, *BROKEN))

    assert answers(a_pod(), [NODE1], [a_pod(objection, uid="existing", on="node1")]) == [None]


def test_a_namespace_that_is_not_known_is_selected_only_by_everything() -> None:
    wanted = replace(WANTED, namespace_selector=label_selector({"team": "x"}))
    existing = a_pod(uid="existing", on="node1", namespace="team-x")

    assert answers(a_pod(Neighbours(affinity=(wanted,)), labels={}), [NODE1], [existing]) == [FAR]
