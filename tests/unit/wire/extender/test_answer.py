"""Answers are read as kube-scheduler reads them: any case, first value, null is absent."""

import json
from typing import Any

import pytest

from springtide.wire.extender import Answer, MalformedAnswer, read_answer


def read(value: Any, *, by_name: bool = True) -> Answer:
    return read_answer(json.dumps(value).encode(), by_name=by_name)


def nodes(*names: str) -> dict[str, Any]:
    return {"items": [{"metadata": {"name": name}, "spec": {"podCIDR": "x"}} for name in names]}


@pytest.mark.parametrize(
    "spelling",
    [
        ("NodeNames", "FailedNodes", "FailedAndUnresolvableNodes", "Error"),
        ("nodenames", "failednodes", "failedandunresolvablenodes", "error"),
        ("nodeNames", "failedNodes", "failedAndUnresolvableNodes", "ERROR"),
    ],
)
def test_keys_are_read_in_any_case(spelling: tuple[str, str, str, str]) -> None:
    names, failed, unresolvable, error = spelling

    answer = read({names: ["a"], failed: {"b": "x"}, unresolvable: {"c": "y"}, error: "e"})

    assert answer == Answer(kept=("a",), failed={"b": "x"}, unresolvable={"c": "y"}, error="e")


@pytest.mark.parametrize("spelling", ["Nodes", "nodes", "NODES"])
@pytest.mark.parametrize("items", ["items", "Items"])
def test_whole_nodes_count_by_their_names(spelling: str, items: str) -> None:
    answer = read({spelling: {items: nodes("a", "b")["items"]}}, by_name=False)

    assert answer.kept == ("a", "b")


@pytest.mark.parametrize(
    ("value", "by_name", "kept"),
    [
        ({"NodeNames": ["a"], "Nodes": nodes("b")}, True, ("a",)),
        ({"NodeNames": ["a"], "Nodes": nodes("b")}, False, ("b",)),
        ({"NodeNames": None, "Nodes": nodes("b")}, True, ("b",)),
        ({"NodeNames": [], "Nodes": nodes("b")}, True, ()),
        ({"NodeNames": ["a"]}, False, ()),
        ({"Nodes": {"items": None}}, False, ()),
        ({"Nodes": {}}, False, ()),
        ({}, True, ()),
        (None, True, ()),
    ],
)
def test_the_form_of_the_call_says_which_list_counts(
    *, value: Any, by_name: bool, kept: tuple[str, ...]
) -> None:
    assert read(value, by_name=by_name).kept == kept


def test_null_is_absent_and_unknown_keys_are_passed_over() -> None:
    answer = read({"FailedNodes": None, "Error": None, "NodeNames": ["a"], "Weight": [1]})

    assert answer == Answer(kept=("a",))


def test_the_last_of_several_equal_keys_counts() -> None:
    answer = read_answer(b'{"NodeNames": ["a"], "NodeNames": ["b"]}', by_name=True)

    assert answer.kept == ("b",)


@pytest.mark.parametrize("rest", [b"", b"\n", b' {"Error": "late"}', b" garbage"])
def test_only_the_first_value_is_read(rest: bytes) -> None:
    answer = read_answer(b'{"NodeNames": ["a"]}' + rest, by_name=True)

    assert answer == Answer(kept=("a",))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the answer is empty"),
        (b"  \n", "the answer is empty"),
        (b'{"NodeNames": ["a"', "the answer is not JSON"),
        (b"<html>", "the answer is not JSON"),
        (b'{"NodeNames": ["\xff"]}', "cannot be read"),
        (b'{"\xff": 1}', "the answer is not a JSON object"),
        (b"[]", "the answer is not a JSON object"),
        (b'"n1"', "the answer is not a JSON object"),
        (b'{"NodeNames": "n1"}', "NodeNames cannot be read"),
        (b'{"FailedNodes": ["n1"]}', "FailedNodes cannot be read"),
        (b'{"FailedNodes": {"n1": 1}}', "FailedNodes cannot be read"),
        (b'{"Error": {}}', "Error cannot be read"),
        (b'{"NodeNames": null, "Nodes": []}', "Nodes is not a JSON object"),
    ],
)
def test_what_cannot_be_understood_is_a_fault_with_its_place(data: bytes, words: str) -> None:
    with pytest.raises(MalformedAnswer, match=words):
        read_answer(data, by_name=True)
