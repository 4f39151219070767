"""Priorities of groups as the ConfigMap of the priority expander has them."""

import json
from typing import Any

import pytest

from springtide.model.group import UNRANKED, PriorityRules
from springtide.wire.documents import Input, decode
from springtide.wire.errors import MalformedObject
from springtide.wire.priorities import CONFIG_MAP, read
from springtide.wire.source import Source


def config_map(text: str, *, name: str = CONFIG_MAP) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "kube-system"},
        "data": {"priorities": text},
    }


def found(*objects: dict[str, Any]) -> Input:
    listed = {"apiVersion": "v1", "kind": "List", "items": objects}
    return decode([Source("in.json", json.dumps(listed).encode())])


@pytest.mark.parametrize(
    ("text", "priorities"),
    [
        ("10:\n- .*\n50:\n- ^spot-\n", {"spot-0": 50, "on-demand": 10}),
        ("5:\n- nothing\n", {"spot-0": UNRANKED}),
        ("-1:\n- .*\n'7':\n- '0$'\n", {"spot-0": 7, "spot-1": -1}),
        ("1:\n- a\n1:\n- b\n", {"a": UNRANKED, "b": 1}),
        ("10: []\n20:\n", {"a": UNRANKED}),
        ("", {"a": UNRANKED}),
    ],
    ids=["patterns", "no match", "negative", "the last of equals", "no patterns", "empty"],
)
def test_the_highest_priority_with_a_pattern_counts(text: str, priorities: dict[str, int]) -> None:
    rules = read(text)

    assert {name: rules.of(name) for name in priorities} == priorities


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("often: [a]", "'often' is no priority, which is a whole number"),
        ("[1]", "it is no map"),
        ("1: [", "line 2: this is not YAML"),
        ("1: spot", "priority 1 has no list of patterns"),
        ("1: ['[']", "'[' is not a regular expression"),
    ],
)
def test_a_text_that_makes_no_sense_is_refused(text: str, reason: str) -> None:
    with pytest.raises(MalformedObject) as caught:
        read(text)

    assert caught.value.reason.startswith(reason)


def test_the_config_map_is_found_by_its_name() -> None:
    text = "10:\n- a\n"

    assert found(config_map(text)).priorities == PriorityRules(((10, ("a",)),))
    assert found(config_map(text, name="another")).priorities is None


def test_a_broken_or_second_text_is_a_problem() -> None:
    read_twice = found(config_map("1: [a]"), config_map("2: [a]"), config_map("no map"))

    assert read_twice.priorities == PriorityRules(((1, ("a",)),))
    assert [each.field for each in read_twice.problems] == ['data["priorities"]'] * 2
