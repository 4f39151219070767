"""Every recorded verdict of kube-scheduler 1.37 about the rules of the framework, replayed."""

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from tools.replay.kube import TOPICS, Case, replay_filters

FOLDER = Path(__file__).parents[3] / "recorded" / "kube"
STRIDE = 6
"""Topics that say little about our rules are thinned out."""


def cases(topic: str) -> Iterator[Case]:
    with gzip.open(FOLDER / f"filters-{topic}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def topics() -> list[str]:
    files = sorted(FOLDER.glob("filters-*.jsonl.gz"))
    return [file.name.removeprefix("filters-").removesuffix(".jsonl.gz") for file in files]


@pytest.mark.parametrize("topic", TOPICS)
def test_we_judge_as_recorded(topic: str) -> None:
    found = {
        case["id"]: differences for case in cases(topic) if (differences := replay_filters(case))
    }

    assert found == {}


@pytest.mark.parametrize("topic", sorted(set(topics()) - set(TOPICS)))
def test_each_rule_judges_as_recorded_where_others_have_a_part_too(topic: str) -> None:
    some = islice(cases(topic), 0, None, STRIDE)

    found = {case["id"]: differences for case in some if (differences := replay_filters(case))}

    assert found == {}


WRONG = {"code": "Error"}


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("pre_filter_combined", WRONG),
        ("absent_status", WRONG),
        ("node_status", {"node-0": WRONG}),
        ("feasible", ["node-0"]),
        ("fit_error", "0/0 nodes are available:"),
        ("pre_filter", [{"plugin": "NodeName", **WRONG}]),
        ("filter", {}),
    ],
)
def test_a_difference_would_be_seen(field: str, wrong: object) -> None:
    case = next(case for case in cases("node-affinity-fields") if is_telling(case["expect"]))
    spoilt = {**case, "expect": {**case["expect"], field: wrong}}

    differences = replay_filters(spoilt)

    assert replay_filters(case) == []
    assert any(text.startswith(field) for text in differences)


@pytest.mark.parametrize(
    ("topic", "field", "wrong"),
    [
        ("dra-basic", "allocations", {"node-0": []}),
        ("dra-first-available", "scores", {"node-0": {"DynamicResources": {"raw": 99}}}),
        ("dra-allocated", "post_filter", {"message": "deallocation of ResourceClaim completed"}),
        ("dra-basic", "pre_enqueue", [{"plugin": "DynamicResources", **WRONG}]),
        ("dra-selectors", "outcome", "nothing"),
    ],
)
def test_a_difference_in_devices_would_be_seen(topic: str, field: str, wrong: object) -> None:
    case = next(
        case
        for case in cases(topic)
        if {"node-0"} <= case["expect"].get("allocations", {}).keys() or field == "post_filter"
    )
    spoilt = {**case, "expect": {**case["expect"], field: wrong}}

    differences = replay_filters(spoilt)

    assert replay_filters(case) == []
    assert any(text.startswith(field) for text in differences)


def is_telling(expected: Case) -> bool:
    """Return whether nothing fits, for reasons inside and outside of the named nodes."""
    return (
        expected.keys() >= {"absent_status", "node_status", "fit_error"}
        and "reasons" in (expected["absent_status"])
    )
