"""Recorded decisions of HAMi, replayed through the live scheduler: admission, filter, binds, informers.

The themes that are the live scheduler's own are replayed here, and some of those about devices alone; all of
them are by `tools/recorded.py hami-live`.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from tools.replay.hami import load
from tools.replay.hami_live import DIFFERENCES, replay

FOLDER = Path(__file__).parents[3] / "recorded" / "hami"
THEMES = (
    "bind", "health", "lifecycle", "nodeupdate", "preannot", "quota", "retry", "unregistered",
    "webhook", "weights", "zero",
)  # fmt: skip


@pytest.mark.parametrize(("vendor", "least"), [("nvidia", 2_400), ("ascend", 600)])
def test_we_answer_live_as_hami_did(vendor: str, least: int) -> None:
    configs = json.loads((FOLDER / "configs.json").read_text())
    scenarios = [
        each
        for each in load(FOLDER / f"{vendor}.jsonl.gz")
        if vendor == "ascend" or each["id"].split("-")[1] in THEMES
    ]

    reports = [replay(scenario, configs) for scenario in scenarios]

    assert [text for report in reports for text in report.differences] == []
    skipped = sum((report.skipped for report in reports), Counter[str]())
    assert set(skipped) <= {difference.name for difference in DIFFERENCES}
    assert sum(report.equal for report in reports) > least
