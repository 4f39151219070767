"""Every recorded decision of HAMi about Ascend NPUs, replayed."""

import json
from collections import Counter
from pathlib import Path

from tools.replay.hami import DIFFERENCES, load, replay

FOLDER = Path(__file__).parents[3] / "recorded" / "hami"
EQUAL_LEAST = 1330
"""Steps that are answered equally; a tenth is no matter of devices or falls under a difference."""


def test_we_answer_as_hami_did() -> None:
    scenarios = load(FOLDER / "ascend.jsonl.gz")
    configs = json.loads((FOLDER / "configs.json").read_text())

    reports = [replay(scenario, configs) for scenario in scenarios]

    assert [text for report in reports for text in report.differences] == []
    assert [text for report in reports for text in report.unlike] == []
    skipped = sum((report.skipped for report in reports), Counter[str]())
    assert set(skipped) <= {difference.name for difference in DIFFERENCES}
    assert sum(report.equal for report in reports) > EQUAL_LEAST
