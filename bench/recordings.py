"""Do class tables change an answer? Every recorded decision about devices is made with and without them.

Each pod of the recordings is asked of each node of its scenario twice: by the class tables, which are
kept while pods come and go, and by the exact placement alone. Verdict, reason and devices must be equal.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure
from tools.replay.hami import Report, load, replay

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "recorded" / "hami"


def measure() -> Iterator[Figure]:
    """Yield how many answers there are, and how many of them differ."""
    reports = list(_reports())
    judged = sum(report.judged for report in reports)
    unlike = sum(len(report.unlike) for report in reports)
    how = f"{len(reports):,} scenarios, one pod on one node each"
    yield Figure("answers", judged, "answers", how)
    yield Figure("differ with tables off", unlike, "answers", f"of {judged:,}")


def _reports() -> Iterator[Report]:
    configs = json.loads((FOLDER / "configs.json").read_text())
    for path in sorted(FOLDER.glob("*.jsonl.gz")):
        for scenario in load(path):
            yield replay(scenario, configs)
