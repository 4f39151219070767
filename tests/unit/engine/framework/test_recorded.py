"""Every recorded verdict and score of kube-scheduler 1.37 about the framework, replayed."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.replay.kube import MIXED, TOPICS, Case, replay_filters
from tools.replay.kube_attempt import is_listed_difference

FOLDER = Path(__file__).parents[3] / "recorded" / "kube"


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


def test_every_topic_is_replayed() -> None:
    assert set(topics()) == {*TOPICS, MIXED}


def test_cases_of_everything_at_once_end_as_recorded() -> None:
    found = {
        case["id"]: differences
        for case in cases(MIXED)
        if (differences := replay_filters(case)) and not is_listed_difference(case, differences)
    }

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
        ("outcome", "schedulable"),
        ("num_all_nodes", 0),
        ("event", "0/0 nodes are available:"),
        ("post_filter", {"code": "Success", "message": ""}),
        ("nominated_node_taken", True),
        ("unschedulable_plugins", []),
        ("pending_plugins", ["VolumeBinding"]),
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


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("scores", {"node-0": {}}),
        ("score_skipped", ["ImageLocality"]),
        ("score_error", "why"),
        ("totals", {"node-0": 1}),
    ],
)
def test_a_difference_of_scores_would_be_seen(field: str, wrong: object) -> None:
    case = next(case for case in cases("scores-images") if "totals" in case["expect"])
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
