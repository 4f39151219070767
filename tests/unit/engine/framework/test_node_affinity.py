"""NodeAffinity by the table of selectors and terms, and the nodes that terms name."""

from collections.abc import Mapping

import pytest

from springtide.base.selectors import NodeSelectorRequirement, NodeSelectorTerm
from springtide.engine.framework.framework import FrameworkConfig
from springtide.model.node import HOSTNAME_LABEL
from springtide.model.pod import PodSpec
from springtide.model.refusal import Refusal
from tests.unit.engine.framework.asking import answer, answers, pod, roomy, unresolvable

RULE = "NodeAffinity"
MISMATCH = unresolvable(RULE, "node(s) didn't match Pod's node affinity/selector")
ENFORCED = unresolvable(RULE, "node(s) didn't match scheduler-enforced node affinity")
CONFLICT = unresolvable(RULE, "pod affinity terms conflict")

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


def test_terms_that_name_nodes_restrict_the_pod_to_them() -> None:
    nodes = [roomy("node1"), roomy("node2")]

    found = answers(pod(wants(named("node1"))), nodes)  # A19, A20

    assert found == [
        None,
        unresolvable("", "node(s) didn't satisfy plugin(s) [NodeAffinity]"),
    ]


def test_a_term_that_names_no_node_lifts_the_restriction() -> None:
    spec = wants(named("node1"), term(need("foo", "In", "bar")))  # A21
    nodes = [roomy("node2", FOO), roomy("node1"), roomy("node3")]

    assert answers(pod(spec), nodes) == [None, None, MISMATCH]


def test_a_term_that_names_two_nodes_at_once_conflicts() -> None:
    nodes = [roomy("a"), roomy("b")]

    assert answers(pod(wants(named("a", "b"))), nodes) == [CONFLICT, CONFLICT]  # A22


def test_what_the_scheduler_adds_is_told_apart() -> None:
    config = FrameworkConfig(added_node_terms=(term(need("zone", "In", "bar")),))
    nodes = [roomy("a", {"zone": "foo"}), roomy("b", {"zone": "bar"})]

    assert answers(pod(), nodes, config=config) == [ENFORCED, None]  # A23
    assert answers(pod(wants()), nodes, config=config) == [ENFORCED, MISMATCH]


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
