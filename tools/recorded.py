"""Replay recorded answers of the real programs through the product's own code path.

    tools/recorded.py {kube,hami,autoscaler} PATH... [--topic T] [--show N]

PATH is a recording (`*.jsonl.gz`) or a folder of them. Each difference is printed with its scenario
id; the last line is `N passed, N failed, N skipped`. What is decided differently on purpose, or not
built yet, counts as skipped, with the reason and how often it applied.
"""

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tools.replay import autoscaler, base, hami, kube

Case = dict[str, Any]


class Outcome(NamedTuple):
    """What became of one case: differences (none: equal), or the reason why it was skipped."""

    differences: list[str]
    skipped: str = ""


Replay = Callable[[Case, Path], Outcome]


def main(arguments: list[str] | None = None) -> int:
    """Replay what the command line names and return the exit status."""
    options = _parser().parse_args(arguments)
    replay = REPLAYS[options.peer]
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for path in _files(options.paths):
        for case in _cases(path):
            if options.topic and not case["id"].startswith(options.topic):
                continue
            outcome = replay(case, path)
            verdict = (
                "skipped" if outcome.skipped else "failed" if outcome.differences else "passed"
            )
            counts[verdict] += 1
            reasons[outcome.skipped] += bool(outcome.skipped)
            if verdict == "failed" and counts["failed"] <= options.show:
                for difference in outcome.differences:
                    print(f"{case['id']}: {difference}")
    for reason, count in reasons.most_common():
        if reason:
            print(f"skipped {count}: {reason}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


def replay_kube(case: Case, path: Path) -> Outcome:
    """Replay one case of the scheduler's recordings."""
    kind = path.name.removesuffix(".jsonl.gz")
    if kind == "quantities":
        if base.is_listed_difference(case):
            return Outcome(
                [], "quantity outside int64 or negative fraction, see docs/differences.md"
            )
        return Outcome(base.replay_quantity(case))
    if kind == "selectors":
        return Outcome(base.replay_selector(case))
    if kind == "tolerations":
        return Outcome(base.replay_toleration(case))
    if case.get("topic") not in kube.TOPICS:
        return Outcome([], f"not built yet: {case.get('topic', kind)}")
    return Outcome(kube.replay_filters(case))


def replay_hami(case: Case, path: Path) -> Outcome:
    """Replay one scenario of the device scheduler's recordings."""
    configs = json.loads(path.with_name("configs.json").read_text())
    return Outcome(hami.replay_scenario(case, configs))


def replay_autoscaler(case: Case, path: Path) -> Outcome:
    """Replay one record of the autoscaler's recordings."""
    if case["kind"] != "estimate":
        return Outcome([], f"not built yet: {case['kind']}")
    reason = autoscaler.skip_reason(case)
    return Outcome([], reason) if reason else Outcome(autoscaler.replay_estimate(case))


REPLAYS: dict[str, Replay] = {
    "kube": replay_kube,
    "hami": replay_hami,
    "autoscaler": replay_autoscaler,
}


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.glob("*.jsonl.gz")) if path.is_dir() else [path]


def _cases(path: Path) -> Iterator[Case]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peer", choices=sorted(REPLAYS))
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--topic", default="", help="only scenarios whose id begins with this")
    parser.add_argument("--show", type=int, default=10, help="how many failed scenarios to print")
    return parser


if __name__ == "__main__":
    sys.exit(main())
