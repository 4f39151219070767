"""Every recorded decision of HAMi about NVIDIA cards, replayed."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tools.replay.hami import DIFFERENCES, load, replay
from tools.replay.hami_kinds import Json

FOLDER = Path(__file__).parents[3] / "recorded" / "hami"
SHARES = 8
EQUAL_LEAST = 900
"""Steps that a share has to answer equally; a tenth falls under a listed difference."""


@pytest.fixture(scope="module")
def recording() -> tuple[list[Json], dict[str, str]]:
    return load(FOLDER / "nvidia.jsonl.gz"), json.loads((FOLDER / "configs.json").read_text())


@pytest.mark.parametrize("share", range(SHARES))
def test_we_answer_as_hami_did(recording: tuple[list[Json], dict[str, str]], share: int) -> None:
    scenarios, configs = recording

    reports = [replay(scenario, configs) for scenario in scenarios[share::SHARES]]

    assert [text for report in reports for text in report.differences] == []
    skipped = sum((report.skipped for report in reports), Counter[str]())
    assert set(skipped) <= {difference.name for difference in DIFFERENCES}
    assert sum(report.equal for report in reports) > EQUAL_LEAST
