"""Every recorded decision of HAMi about NVIDIA cards, replayed; and those about several families.

On the way the answers of class tables are held against those of the exact placement.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from tools.replay.hami import DIFFERENCES, Report, load, replay
from tools.replay.hami_kinds import Json

FOLDER = Path(__file__).parents[3] / "recorded" / "hami"
SHARES = 8
EQUAL_LEAST = 1_050
"""Steps that a share has to answer equally; an eighth falls under a listed difference."""
MIXED_LEAST = 230
"""Of clusters with several families: most steps are about those that are not built yet."""


def configs() -> dict[str, str]:
    found: dict[str, str] = json.loads((FOLDER / "configs.json").read_text())
    return found


@pytest.fixture(scope="module")
def recording() -> list[Json]:
    return load(FOLDER / "nvidia.jsonl.gz")


def hold(reports: list[Report], *, least: int) -> None:
    """Hold reports to the rules of every replay."""
    assert [text for report in reports for text in report.differences] == []
    assert [text for report in reports for text in report.unlike] == []
    skipped = sum((report.skipped for report in reports), Counter[str]())
    assert set(skipped) <= {difference.name for difference in DIFFERENCES}
    assert "after a skip" not in skipped
    assert sum(report.equal for report in reports) >= least


@pytest.mark.parametrize("share", range(SHARES))
def test_we_answer_as_hami_did(recording: list[Json], share: int) -> None:
    reports = [replay(scenario, configs()) for scenario in recording[share::SHARES]]

    hold(reports, least=EQUAL_LEAST)


@pytest.mark.parametrize("is_strict", [False, True])
def test_we_answer_as_hami_did_where_there_are_several_families(*, is_strict: bool) -> None:
    scenarios = load(FOLDER / "mixed.jsonl.gz")

    reports = [replay(scenario, configs(), is_strict=is_strict) for scenario in scenarios]

    hold(reports, least=MIXED_LEAST)


def test_strictly_we_answer_as_hami_did(recording: list[Json]) -> None:
    topology = [each for each in recording if each["id"].startswith(("nvidia-mig", "nvidia-topo"))]

    reports = [replay(scenario, configs(), is_strict=True) for scenario in topology]

    hold(reports, least=670)
