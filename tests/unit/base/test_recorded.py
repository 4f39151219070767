"""Every recorded answer of Kubernetes 1.37 about quantities, selectors and tolerations, replayed."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools.replay.base import (
    Case,
    is_listed_difference,
    replay_quantity,
    replay_selector,
    replay_toleration,
)

FOLDER = Path(__file__).parents[2] / "recorded" / "kube"


def cases(name: str) -> Iterator[Case]:
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@pytest.mark.parametrize(
    ("name", "replay"), [("selectors", replay_selector), ("tolerations", replay_toleration)]
)
def test_we_answer_as_recorded(name: str, replay: Callable[[Case], list[str]]) -> None:
    found = {case["id"]: differences for case in cases(name) if (differences := replay(case))}

    assert found == {}


def test_quantities_differ_from_the_recording_only_where_we_mean_to() -> None:
    found = {
        case["id"]: differences
        for case in cases("quantities")
        if (differences := replay_quantity(case)) and not is_listed_difference(case)
    }

    assert found == {}


def test_the_refusal_of_vast_exponents_is_a_listed_difference() -> None:
    refused = [
        case["text"]
        for case in cases("quantities")
        if replay_quantity(case)
        and not replay_quantity(case)[0].startswith(("value", "milli", "sum", "difference"))
    ]

    assert refused == ["1e-2147483649"]
