"""Recorded estimates of the Cluster Autoscaler, replayed."""

import gzip
import json
from pathlib import Path

import pytest

from tools.replay.autoscaler import Case, replay_estimate, skip_reason

RECORDING = Path(__file__).parents[3] / "recorded" / "autoscaler" / "estimate.jsonl.gz"
SLICE = 150


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    with gzip.open(RECORDING, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_we_estimate_as_recorded(cases: list[Case]) -> None:
    wanted = [case for case in cases if skip_reason(case) is None]
    # Every ninth or so, so that all families of the recording take part.
    chosen = wanted[:: len(wanted) // SLICE]

    found = {case["id"]: differences for case in chosen if (differences := replay_estimate(case))}

    assert found == {}
    assert len(chosen) >= SLICE


def test_nothing_is_left_out(cases: list[Case]) -> None:
    assert {skip_reason(case) for case in cases} == {None}


def test_a_difference_is_told(cases: list[Case]) -> None:
    case = next(each for each in cases if skip_reason(each) is None)
    wrong = {**case, "result": {**case["result"], "nodeCount": -1}}

    (difference,) = replay_estimate(wrong)

    assert difference == f"nodeCount: recorded -1, ours {case['result']['nodeCount']}"
