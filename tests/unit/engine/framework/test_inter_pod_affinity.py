"""InterPodAffinity: the table of its cases."""

from collections.abc import Mapping
from typing import Final

import pytest
from msgspec.structs import replace

from springtide.base.selectors import LabelSelector, LabelSelectorRequirement, label_selector
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.framework import Framework
from springtide.model.neighbours import ALONE, AffinityTerm, Neighbours
from springtide.model.node import HOSTNAME_LABEL
from springtide.model.pod import Pod, PodSpec
from springtide.model.refusal import Refusal
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


EXISTING = a_pod(uid="existing", on="node1")
WANTED = about(selects("In", "securityscan", "value2"))
UNWANTED_HERE = about(selects("In", "securityscan", "value2"), "zone")
HARMLESS = about(selects("In", "antivirusscan"), HOSTNAME_LABEL)


@pytest.mark.parametrize(
    ("name", "neighbours", "expected"),
    [
        ("I1", ALONE, None),
        ("I2", Neighbours(affinity=(WANTED,)), None),
        ("I3", Neighbours(affinity=(about(selects("NotIn", "securityscan3")),)), None),
        ("I4", Neighbours(affinity=(replace(WANTED, namespaces=("DiffNameSpace",)),)), FAR),
        ("I5", Neighbours(affinity=(about(selects("In", "antivirusscan")),)), FAR),
        ("I6", Neighbours(affinity=(WANTED, about(selects("In", "WrongValue")))), FAR),
        ("I7", Neighbours(affinity=(WANTED,), anti_affinity=(HARMLESS,)), None),
        ("I8", Neighbours(affinity=(WANTED,), anti_affinity=(UNWANTED_HERE,)), NEAR),
        ("I15", Neighbours(anti_affinity=(about(selects("Exists"), "absent"),)), None),
    ],
)
def test_a_pod_goes_where_it_wants_to(
    name: str, neighbours: Neighbours, expected: Refusal | None
) -> None:
    pending = a_pod(neighbours, labels={"service": "else"} if name in {"I4", "I5"} else None)

    assert answers(pending, [NODE1], [EXISTING]) == [expected], name


@pytest.mark.parametrize(
    ("name", "own", "operator", "expected"),
    [
        ("I9", Neighbours(affinity=(WANTED,), anti_affinity=(HARMLESS,)), "In", REPELLED),
        ("I10", ALONE, "In", REPELLED),
        ("I11", ALONE, "NotIn", None),
    ],
)
def test_pods_that_are_there_keep_others_away(
    name: str, own: Neighbours, operator: str, expected: Refusal | None
) -> None:
    objection = Neighbours(anti_affinity=(about(selects(operator, "securityscan"), "zone"),))
    existing = a_pod(objection, uid="existing", on="node1")

    assert answers(a_pod(own), [NODE1], [existing]) == [expected], name


def test_i11_a_rule_without_anything_to_say_has_no_check() -> None:
    objection = Neighbours(anti_affinity=(about(selects("NotIn", "securityscan"), "zone"),))
    ledger = ledger_of([NODE1], [a_pod(objection, uid="existing", on="node1")])

    prepared = Framework().prepare(ask_of(a_pod(), with_identity=True), ledger)

    assert prepared.cluster_checks == ()


def test_i12_i13_the_first_of_a_group_goes_anywhere_with_the_label() -> None:
    pending = a_pod(Neighbours(affinity=(WANTED,)))

    assert answers(pending, [NODE1, roomy("bare")]) == [None, FAR]


def test_i14_the_others_of_a_group_go_where_the_first_is() -> None:
    there = roomy("node2", {"region": "r2"})
    first = a_pod(uid="first", on="node2")

    assert answers(a_pod(Neighbours(affinity=(WANTED,))), [NODE1, there], [first]) == [FAR, None]


BROKEN = (about(selects("In", "{{.bad-value.}}")),)


@pytest.mark.parametrize(
    ("neighbours", "told"),
    [
        (Neighbours(affinity=BROKEN), "requiredAffinityTerms"),
        (Neighbours(anti_affinity=BROKEN), "requiredAntiAffinityTerms"),
        (Neighbours(preferred_affinity=BROKEN), "preferredAffinityTerms"),
        (Neighbours(preferred_anti_affinity=BROKEN), "preferredAntiAffinityTerms"),
    ],
)
def test_i16_a_malformed_term_rejects_the_pod_even_if_it_is_only_preferred(
    neighbours: Neighbours, told: str
) -> None:
    (refusal,) = answers(a_pod(neighbours), [NODE1], [EXISTING])

    assert refusal is not None
    assert refusal.is_unresolvable
    assert refusal.text.startswith(f"parsing pod: {told}: values[0][service]: Invalid value:")


def test_malformed_terms_of_pods_that_are_there_keep_nobody_away() -> None:
    objection = Neighbours(anti_affinity=(UNWANTED_HERE, *BROKEN))

    assert answers(a_pod(), [NODE1], [a_pod(objection, uid="existing", on="node1")]) == [None]


@pytest.mark.parametrize("selector", [label_selector({"team": "x"}), label_selector({})])
def test_i17_i18_namespaces_are_selected_by_their_labels(selector: LabelSelector) -> None:
    wanted = replace(WANTED, namespace_selector=selector)
    existing = a_pod(uid="existing", on="node1", namespace="team-x")
    pending = a_pod(Neighbours(affinity=(wanted,)), labels={})

    found = answers(pending, [NODE1], [existing], namespaces={"team-x": {"team": "x"}})

    assert found == [None]


def test_a_namespace_that_is_not_known_is_selected_only_by_everything() -> None:
    wanted = replace(WANTED, namespace_selector=label_selector({"team": "x"}))
    existing = a_pod(uid="existing", on="node1", namespace="team-x")

    assert answers(a_pod(Neighbours(affinity=(wanted,)), labels={}), [NODE1], [existing]) == [FAR]


def test_i19_pods_that_are_being_deleted_count() -> None:
    leaving = replace(EXISTING, is_terminating=True)

    assert answers(a_pod(Neighbours(anti_affinity=(UNWANTED_HERE,))), [NODE1], [leaving]) == [NEAR]
