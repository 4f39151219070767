"""Every recorded verdict and score of kube-scheduler 1.37 about the framework, replayed."""

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from tools.replay.kube import MIXED, TOPICS, Case, is_built, replay_filters, replay_scores
from tools.replay.kube_attempt import is_listed_difference

FOLDER = Path(__file__).parents[3] / "recorded" / "kube"
# Devices of DRA may stand in for extended resources there, which no rule here knows of.
FOREIGN = {"dra-extended"}
STRIDE = 6
"""Topics that say little about our rules are thinned out."""


def cases(topic: str) -> Iterator[Case]:
    with gzip.open(FOLDER / f"filters-{topic}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def topics() -> list[str]:
    files = sorted(FOLDER.glob("filters-*.jsonl.gz"))
    found = [file.name.removeprefix("filters-").removesuffix(".jsonl.gz") for file in files]
    return [topic for topic in found if topic not in FOREIGN]


@pytest.mark.parametrize("topic", TOPICS)
def test_we_judge_as_recorded(topic: str) -> None:
    found = {
        case["id"]: differences for case in cases(topic) if (differences := replay_filters(case))
    }

    assert found == {}


@pytest.mark.parametrize("topic", sorted(set(topics()) - {*TOPICS, MIXED}))
def test_each_rule_judges_as_recorded_where_others_have_a_part_too(topic: str) -> None:
    some = islice(cases(topic), 0, None, STRIDE)

    found = {case["id"]: differences for case in some if (differences := replay_filters(case))}

    assert found == {}


@pytest.mark.parametrize("topic", sorted(FOREIGN))
def test_scores_are_as_recorded_whatever_decides_about_nodes(topic: str) -> None:
    found = {
        case["id"]: differences for case in cases(topic) if (differences := replay_scores(case))
    }

    assert found == {}


def test_cases_of_everything_at_once_end_as_recorded_where_no_devices_are_asked_for() -> None:
    ours = [case for case in cases(MIXED) if is_built(case)]

    found = {
        case["id"]: differences
        for case in ours
        if (differences := replay_filters(case)) and not is_listed_difference(case, differences)
    }

    assert len(ours) > 900
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
