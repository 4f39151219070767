"""Replay recorded answers of the real programs through the product's own code path.

    tools/recorded.py {kube,hami,hami-live,autoscaler} PATH... [--topic T] [--show N] [--strict]

PATH is a recording (`*.jsonl.gz`) or a folder of them. Each difference is printed with its scenario
id; with `--strict` placements have HAMi's peculiarities. The last line is `N passed, N failed, N skipped`. What is decided differently on purpose, or not
built yet, counts as skipped, with the reason and how often it applied.
"""

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.replay import (
    autoscaler,
    autoscaler_scale_up,
    base,
    configurations,
    hami,
    hami_live,
    kube,
    kube_attempt,
)

Case = dict[str, Any]


class Outcome(NamedTuple):
    """What became of one case: equal answers, differences, and what was skipped, by reason."""

    passed: int
    differences: list[str]
    skipped: Mapping[str, int]


def compared(differences: list[str]) -> Outcome:
    """Return the outcome of a case that has one answer."""
    return Outcome(not differences, differences, {})


def skipped(reason: str) -> Outcome:
    """Return the outcome of a case that is not compared."""
    return Outcome(0, [], {reason: 1})


Replay = Callable[[Case, Path], Outcome]


def main(arguments: list[str] | None = None) -> int:
    """Replay what the command line names and return the exit status."""
    options = _parser().parse_args(arguments)
    if options.strict and options.peer != "hami":
        print("--strict is about hami alone: leave it out.", file=sys.stderr)
        return 2
    replay = replay_hami_strictly if options.strict else REPLAYS[options.peer]
    passed, failed, shown = 0, 0, 0
    reasons: Counter[str] = Counter()
    for path, case in _cases(options.paths):
        if not case["id"].startswith(options.topic):
            continue
        outcome = replay(case, path)
        passed += outcome.passed
        failed += len(outcome.differences)
        reasons.update(outcome.skipped)
        if outcome.differences and shown < options.show:
            shown += 1
            for difference in outcome.differences:
                print(f"{case['id']}: {difference}")
    for reason, count in reasons.most_common():
        print(f"skipped {count}: {reason}")
    print(f"{passed} passed, {failed} failed, {reasons.total()} skipped")
    return 1 if failed else 0


def replay_kube(case: Case, path: Path) -> Outcome:
    """Replay one case of the scheduler's recordings."""
    kind = path.name.removesuffix(".jsonl.gz")
    if kind in PLAIN:
        differences = PLAIN[kind](case)
        if differences and kind == "quantities" and base.is_listed_difference(case):
            return skipped("quantity outside 64 bits, negative or out of reach")
        return compared(differences)
    differences = kube.replay_filters(case)
    if differences and kube_attempt.is_listed_difference(case, differences):
        return skipped("spread counts from which preemption takes pods that they never held")
    return compared(differences)


def replay_hami(case: Case, path: Path) -> Outcome:
    """Replay one scenario of the device scheduler's recordings; its steps count one each."""
    return _hami_outcome(case, path, is_strict=False)


def replay_hami_strictly(case: Case, path: Path) -> Outcome:
    """Replay one scenario of the device scheduler's recordings with its peculiarities."""
    return _hami_outcome(case, path, is_strict=True)


def _hami_outcome(case: Case, path: Path, *, is_strict: bool) -> Outcome:
    configs = _configs(path.with_name("configs.json"))
    report = hami.replay(case, configs, is_strict=is_strict)
    unlike = [f"{case['id']}: {text}" for text in report.unlike]
    return Outcome(report.equal, [*report.differences, *unlike], report.skipped)


def replay_hami_live(case: Case, path: Path) -> Outcome:
    """Replay one scenario of the device scheduler's recordings through the live scheduler."""
    report = hami_live.replay(case, _configs(path.with_name("configs.json")))
    return Outcome(report.equal, report.differences, report.skipped)


def replay_autoscaler(case: Case, _path: Path) -> Outcome:
    """Replay one record of the autoscaler's recordings."""
    replay = AUTOSCALER.get(case["kind"])
    if replay is None:
        return skipped(f"not built yet: {case['kind']}")
    reason = autoscaler.skip_reason(case)
    if reason:
        return skipped(reason)
    differences = replay(case)
    if differences and case["kind"] == "scale-up":
        listed = autoscaler_scale_up.listed_difference(case)
        if listed is not None:
            return skipped(listed)
    return compared(differences)


@cache
def _configs(path: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(path.read_text())
    return found


PLAIN: dict[str, Callable[[Case], list[str]]] = {
    "quantities": base.replay_quantity,
    "selectors": base.replay_selector,
    "tolerations": base.replay_toleration,
    "configurations": configurations.replay_configuration,
}
AUTOSCALER: Mapping[str, Callable[[Case], list[str]]] = {
    **autoscaler.REPLAYS,
    "scale-up": autoscaler_scale_up.replay_scale_up,
}
REPLAYS: dict[str, Replay] = {
    "kube": replay_kube,
    "hami": replay_hami,
    "hami-live": replay_hami_live,
    "autoscaler": replay_autoscaler,
}


def _cases(paths: list[Path]) -> Iterator[tuple[Path, Case]]:
    for path in paths:
        for file in sorted(path.glob("*.jsonl.gz")) if path.is_dir() else [path]:
            with gzip.open(file, "rt", encoding="utf-8") as lines:
                for line in lines:
                    yield file, json.loads(line)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peer", choices=sorted(REPLAYS))
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--topic", default="", help="only scenarios whose id begins with this")
    parser.add_argument("--show", type=int, default=10, help="how many failed scenarios to print")
    parser.add_argument("--strict", action="store_true", help="answer as HAMi does, oddities too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
