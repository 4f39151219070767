"""NodeAffinity by the table of selectors and terms, and the nodes that terms name."""

from collections.abc import Mapping

import pytest

from springtide.base.selectors import NodeSelectorRequirement, NodeSelectorTerm
from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.model.node import HOSTNAME_LABEL
from springtide.model.pod import PodSpec
from springtide.model.refusal import Refusal
from tests.unit.engine.framework.asking import (
    answer,
    answers,
    ledger_of,
    pod,
    roomy,
    unresolvable,
)

RULE = "NodeAffinity"
MISMATCH = unresolvable(RULE, "node(s) didn't match Pod's node affinity/selector")
ENFORCED = unresolvable(RULE, "node(s) didn't match scheduler-enforced node affinity")
CONFLICT = unresolvable(RULE, "pod affinity terms conflict")
OUTSIDE = unresolvable("", "node(s) didn't satisfy plugin(s) [NodeAffinity]")

Labels = Mapping[str, str]


def need(key: str, operator: str, *values: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator, values=values)


def term(*expressions: NodeSelectorRequirement) -> NodeSelectorTerm:
    return NodeSelectorTerm(expressions=expressions)


def named(*names: str, operator: str = "In", key: str = "metadata.name") -> NodeSelectorTerm:
    """Return a term with one field for each of these names."""
    return NodeSelectorTerm(fields=tuple(need(key, operator, name) for name in names))


def wants(*terms: NodeSelectorTerm, **selector: str) -> PodSpec:
    return PodSpec(node_selector=tuple(sorted(selector.items())), required_node_terms=terms)


def selects(**selector: str) -> PodSpec:
    return PodSpec(node_selector=tuple(sorted(selector.items())))


GRID = {"GPU": "NVIDIA-GRID-K1"}
FOO = {"foo": "bar"}
EITHER = wants(named("node1"), term(need("foo", "In", "bar")))


@pytest.mark.parametrize(
    ("labels", "spec", "expected"),
    [
        pytest.param({}, selects(foo="bar"), MISMATCH, id="A1"),
        pytest.param(FOO, selects(foo="bar"), None, id="A2"),
        pytest.param({**FOO, "baz": "blah"}, selects(foo="bar"), None, id="A3"),
        pytest.param(FOO, selects(foo="bar", baz="blah"), MISMATCH, id="A4"),
        pytest.param(FOO, wants(term(need("foo", "In", "bar", "value2"))), None, id="A5"),
        pytest.param({"kernel": "0206"}, wants(term(need("kernel", "Gt", "0204"))), None, id="A6"),
        pytest.param({"mem": "large"}, wants(term(need("mem", "NotIn", "small"))), None, id="A7"),
        pytest.param({}, wants(term(need("mem", "NotIn", "small"))), None, id="A7 absent"),
        pytest.param(GRID, wants(term(need("GPU", "Exists"))), None, id="A8"),
        pytest.param(FOO, wants(term(need("foo", "In", "value1"))), MISMATCH, id="A9"),
        pytest.param(FOO, wants(), MISMATCH, id="A10"),
        pytest.param(FOO, wants(term()), MISMATCH, id="A11"),
        pytest.param(FOO, PodSpec(), None, id="A12"),
        pytest.param(
            GRID, wants(term(need("GPU", "Exists"), need("GPU", "NotIn", "AMD"))), None, id="A13"
        ),
        pytest.param(
            GRID, wants(term(need("GPU", "Exists"), need("GPU", "In", "AMD"))), MISMATCH, id="A14"
        ),
        pytest.param(
            FOO,
            wants(term(need("foo", "In", "bar")), term(need("diffkey", "In", "x"))),
            None,
            id="A15",
        ),
        pytest.param(FOO, wants(term(need("foo", "Exists")), foo="bar"), None, id="A16"),
        pytest.param(
            {"foo": "barrrrrr"}, wants(term(need("foo", "Exists")), foo="bar"), MISMATCH, id="A17"
        ),
        pytest.param(
            FOO, wants(term(need("foo", "NotIn", "invalid value: ___@#$%^"))), MISMATCH, id="A18"
        ),
        pytest.param({"rank": "abc"}, wants(term(need("rank", "Gt", "3"))), MISMATCH, id="A24"),
        pytest.param({}, wants(term(need("rank", "DoesNotExist"))), None, id="absent"),
        pytest.param(
            FOO, PodSpec(node_selector=(("foo", "not valid!"),)), MISMATCH, id="odd value"
        ),
    ],
)
def test_the_selector_and_one_term_must_be_met(
    labels: Labels, spec: PodSpec, expected: Refusal | None
) -> None:
    assert answer(spec, roomy(labels=labels)) == expected


@pytest.mark.parametrize(
    ("spec", "name", "labels", "expected", "nodes"),
    [
        pytest.param(wants(named("node1")), "node1", {}, None, {"node1"}, id="A19"),
        pytest.param(wants(named("node1")), "node2", {}, OUTSIDE, {"node1"}, id="A20"),
        pytest.param(EITHER, "node2", FOO, None, None, id="A21"),
        pytest.param(EITHER, "node1", {}, None, None, id="A21 by name"),
        pytest.param(EITHER, "node3", {}, MISMATCH, None, id="A21 neither"),
        pytest.param(wants(named("a", "b")), "a", {}, CONFLICT, None, id="A22"),
    ],
)
def test_terms_that_name_nodes_restrict_the_pod_to_them_unless_one_names_none(
    spec: PodSpec, name: str, labels: Labels, expected: Refusal | None, nodes: set[str] | None
) -> None:
    node = roomy(name, labels)
    prepared = Framework().prepare(ask_of(pod(spec)), ledger_of([node]))

    (found,) = answers(pod(spec), [node])

    assert found == expected
    assert prepared.nodes == nodes


@pytest.mark.parametrize(
    ("zone", "spec", "expected"),
    [
        pytest.param("foo", PodSpec(), ENFORCED, id="A23"),
        pytest.param("bar", PodSpec(), None, id="met"),
        pytest.param("foo", wants(), ENFORCED, id="before the pod's own"),
        pytest.param("bar", wants(), MISMATCH, id="beside the pod's own"),
    ],
)
def test_what_the_scheduler_adds_is_told_apart(
    zone: str, spec: PodSpec, expected: Refusal | None
) -> None:
    config = FrameworkConfig(added_node_terms=(term(need("zone", "In", "bar")),))

    assert answer(spec, roomy(labels={"zone": zone}), config=config) == expected


def test_names_can_be_excluded() -> None:
    nodes = [roomy("a"), roomy("b")]

    found = answers(pod(wants(named("a", operator="NotIn"))), nodes)

    assert found == [MISMATCH, None]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        pytest.param(named("a", operator="NotIn", key="spec.other"), None, id="not in"),
        pytest.param(named("a", key="spec.other"), MISMATCH, id="in"),
        pytest.param(named("", key="spec.other"), None, id="in nothing"),
    ],
)
def test_other_fields_are_read_as_an_empty_text(
    field: NodeSelectorTerm, expected: Refusal | None
) -> None:
    assert answer(wants(field), roomy("a")) == expected


def test_nodes_are_told_apart_by_their_hostname() -> None:
    nodes = [roomy(name, {HOSTNAME_LABEL: name, "zone": "z"}) for name in ("a", "b")]
    either = wants(term(need(HOSTNAME_LABEL, "In", "b"), need("zone", "In", "z")))
    selected = PodSpec(node_selector=((HOSTNAME_LABEL, "a"),))

    assert answers(pod(either), nodes) == [MISMATCH, None]
    assert answers(pod(selected), nodes) == [None, MISMATCH]
