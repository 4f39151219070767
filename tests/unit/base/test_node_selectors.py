"""Node selector terms: the vectors of the specification, and the lenient and strict readings."""

import pytest

from springtide.base.selectors import (
    NodeSelectorRequirement,
    NodeSelectorTerm,
    any_term_matches,
    node_selector_fault,
    term_matches,
)


def asks(key: str, operator: str, *values: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator, values=values)


def term(*expressions: NodeSelectorRequirement, name_in: tuple[str, ...] = ()) -> NodeSelectorTerm:
    fields = (asks("metadata.name", "In", *name_in),) if name_in else ()
    return NodeSelectorTerm(expressions=expressions, fields=fields)


FOO = {"foo": "bar"}
GRID = {"GPU": "NVIDIA-GRID-K1"}

MATCHING = {
    "A5": (FOO, [term(asks("foo", "In", "bar", "value2"))]),
    "A6": ({"kernel": "0206"}, [term(asks("kernel", "Gt", "0204"))]),
    "A7": ({"mem": "large"}, [term(asks("mem", "NotIn", "small"), asks("absent", "NotIn", "x"))]),
    "A8": (GRID, [term(asks("GPU", "Exists"))]),
    "A13": (GRID, [term(asks("GPU", "Exists"), asks("GPU", "NotIn", "AMD", "INTER"))]),
    "A15": (FOO, [term(asks("foo", "In", "bar")), term(asks("diffkey", "In", "x"))]),
    "A19": ({}, [term(name_in=("node1",))]),
    "A21": (FOO, [term(name_in=("node9",)), term(asks("foo", "In", "bar"))]),
    "Lt": ({"n": "-4"}, [term(asks("n", "Lt", "0"))]),
    "DoesNotExist": (FOO, [term(asks("absent", "DoesNotExist"))]),
}

MISSING = {
    "A9": (FOO, [term(asks("foo", "In", "value1"))]),
    "A10": (FOO, []),
    "A11": (FOO, [term()]),
    "A14": (GRID, [term(asks("GPU", "Exists"), asks("GPU", "In", "AMD", "INTER"))]),
    "A18": (FOO, [term(asks("foo", "NotIn", "invalid value: ___@#$%^"))]),
    "A20": ({}, [term(name_in=("node2",))]),
    "A24": ({"rank": "abc"}, [term(asks("rank", "Gt", "3"))]),
    "two names": ({}, [term(name_in=("node1", "node2"))]),
    "unknown operator": (FOO, [term(asks("foo", "in", "bar"))]),
}


@pytest.mark.parametrize("name", MATCHING)
def test_a_node_that_meets_a_term_matches(name: str) -> None:
    labels, terms = MATCHING[name]

    assert any_term_matches(terms, labels, name="node1")


@pytest.mark.parametrize("name", MISSING)
def test_a_node_that_meets_no_term_does_not_match(name: str) -> None:
    labels, terms = MISSING[name]

    assert not any_term_matches(terms, labels, name="node1")


def test_a_malformed_term_does_not_stop_the_others() -> None:
    broken = term(asks("foo", "Bogus"))
    sound = term(asks("foo", "Exists"))

    assert any_term_matches([broken, sound], FOO, name="node1")
    assert node_selector_fault([broken, sound]) is not None
    assert node_selector_fault([sound]) is None


def test_fields_of_a_node_without_a_name_are_not_looked_at() -> None:
    asked = term(asks("foo", "Exists"), name_in=("node1",))

    assert term_matches(asked, FOO, name="")
    assert not term_matches(asked, FOO, name="node2")


def test_another_field_than_the_name_is_simply_absent() -> None:
    excluding = NodeSelectorTerm(fields=(asks("metadata.uid", "NotIn", "node1"),))
    asking = NodeSelectorTerm(fields=(asks("metadata.uid", "In", "node1"),))

    assert term_matches(excluding, {}, name="node1")
    assert not term_matches(asking, {}, name="node1")
    assert node_selector_fault([excluding, asking]) is None


def test_the_strict_complaint_names_every_fault_with_its_place() -> None:
    terms = [
        term(asks("foo", "Exists", "<x>")),
        NodeSelectorTerm(fields=(asks("metadata.name", "Gt", "1"),)),
    ]

    assert node_selector_fault(terms) == (
        "[nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: "
        '["\\u003cx\\u003e"]: values set must be empty for exists and does not exist, '
        'nodeSelectorTerms[0].matchExpressions[0].values[0][foo]: Invalid value: "<x>": a valid label '
        "must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
        "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
        "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), "
        "nodeSelectorTerms[1].matchFields[0].operator: Unsupported value: "
        '"Gt": supported values: "In", "NotIn"]'
    )
