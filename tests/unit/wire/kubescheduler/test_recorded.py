"""What kube-scheduler 1.37 said of every recorded configuration, replayed."""

import gzip
import json
from pathlib import Path

import pytest

from tools.replay.configurations import Case, replay_configuration

FOLDER = Path(__file__).parents[3] / "recorded" / "kube"


def cases() -> list[Case]:
    with gzip.open(FOLDER / "configurations.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_every_document_is_read_as_recorded() -> None:
    found = {
        case["id"]: differences for case in cases() if (differences := replay_configuration(case))
    }

    assert found == {}


@pytest.mark.parametrize(
    "field",
    [
        "decode_error",
        "validation_error",
        "validation_errors",
        "build_error",
        "effective",
        "extender_order",
        "defaulted",
    ],
)
def test_a_difference_would_be_seen(field: str) -> None:
    case = next(case for case in cases() if field in case["expect"])
    left_out = {name: value for name, value in case["expect"].items() if name != field}

    differences = replay_configuration({**case, "expect": left_out})

    assert [text.partition(":")[0] for text in differences] == [field]
