"""Recorded scale-up decisions of the Cluster Autoscaler, replayed."""

import gzip
import json
from pathlib import Path

import pytest

from tools.replay.autoscaler import Case, skip_reason
from tools.replay.autoscaler_scale_up import (
    EXISTING,
    QUOTAS,
    WHOLE,
    listed_difference,
    replay_scale_up,
)

RECORDING = Path(__file__).parents[3] / "recorded" / "autoscaler" / "scale-up.jsonl.gz"
SLICE = 120


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    with gzip.open(RECORDING, "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [case for case in found if skip_reason(case) is None]


def test_we_decide_as_recorded(cases: list[Case]) -> None:
    chosen = cases[:: len(cases) // SLICE]

    found = {
        case["id"]: differences
        for case in chosen
        if (differences := replay_scale_up(case)) and not listed_difference(case)
    }

    assert found == {}
    assert len(chosen) >= SLICE


def test_a_node_of_another_size_is_counted_as_it_is(cases: list[Case]) -> None:
    case = next(each for each in cases if each["id"] == "su-0031")

    assert replay_scale_up(case)
    assert listed_difference(case) == QUOTAS


def test_an_existing_node_that_takes_a_pod_is_no_new_one(cases: list[Case]) -> None:
    case = next(each for each in cases if each["id"] == "su-0106")

    assert replay_scale_up(case)
    assert listed_difference(case) == EXISTING


def test_a_group_of_all_or_none_does_not_get_a_part(cases: list[Case]) -> None:
    case = next(each for each in cases if each["id"] == "su-x291")

    assert replay_scale_up(case)
    assert listed_difference(case) == WHOLE


def test_a_difference_is_told(cases: list[Case]) -> None:
    case = cases[0]
    wrong = {**case, "result": {**case["result"], "bestOptions": ["none"]}}

    (difference,) = replay_scale_up(wrong)

    assert difference.startswith("bestOptions: recorded ['none'], ours [")
    assert listed_difference(wrong) is None
