"""Lives many lives of the example service in bad weather, each from its seed, and prints those that went wrong.

    python tools/rooms.py --seeds 500
    python tools/rooms.py --seed 93 --story
    python tools/rooms.py --real --runs 50
    python tools/rooms.py --real --runs 50 --etcd PROGRAM

A seed that goes wrong becomes a test in tests/property/test_rooms.py.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from examples.rooms.showing import Plan, show  # noqa: E402
from examples.rooms.weather import FAULTS  # noqa: E402
from tests.rooms.living import Life, live  # noqa: E402

PROCESSES: Final = 2
TOLD_MAX: Final = 5
"""So many wrongs of one seed are printed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Live all lives; 1 if any went wrong."""
    asked = _parser().parse_args(arguments)
    faults = tuple(each for each in asked.faults.split(",") if each)
    if asked.real:
        seeds = range(asked.first, asked.first + asked.runs)
        return _real(seeds, faults, seconds=asked.seconds, etcd=asked.etcd)
    if asked.seed is not None:
        return _one(asked.seed, faults, is_told=asked.story)
    seeds = range(asked.first, asked.first + asked.seeds)
    began_s, bad, lives = time.monotonic(), [], []
    with ProcessPoolExecutor(asked.processes) as pool:
        for life in pool.map(partial(live, faults=faults), seeds):
            lives.append(life)
            if life.wrongs:
                bad.append(life.seed)
                _tell(life)
    print(_summary(lives, time.monotonic() - began_s))
    print(f"{len(bad)} of {len(seeds)} seeds went wrong{_listed(bad)}.")
    return 1 if bad else 0


def _one(seed: int, faults: tuple[str, ...], *, is_told: bool) -> int:
    life = live(seed, faults=faults)
    if is_told:
        print("\n".join(life.story))
    _tell(life)
    print(_summary([life], 0.0))
    return 1 if life.wrongs else 0


def _real(seeds: range, faults: tuple[str, ...], *, seconds: float, etcd: str) -> int:
    """Run the service with processes, once a seed, one after the other."""
    bad = []
    for seed in seeds:
        plan = Plan(
            seconds=seconds, members=6, rooms=16, seed=seed, faults=faults, pace=0.05, etcd=etcd
        )
        said: list[str] = []
        outcome = asyncio.run(show(plan, said.append))
        tally = outcome.checker.tally
        print(
            f"run {seed}: {outcome.moved} moves, {tally.asked} requests, {tally.again} again, "
            f"{tally.failed} failed",
            flush=True,
        )
        if not outcome.is_well:
            bad.append(seed)
            print("\n".join(said), flush=True)
    print(f"{len(bad)} of {len(seeds)} runs went wrong{_listed(bad)}.")
    return 1 if bad else 0


def _tell(life: Life) -> None:
    for words in life.wrongs[:TOLD_MAX]:
        print(f"seed {life.seed}: {words}", flush=True)


def _summary(lives: Sequence[Life], seconds: float) -> str:
    asked = sum(each.tally.asked for each in lives)
    failed = sum(each.tally.failed for each in lives)
    again = sum(each.tally.again for each in lives)
    return (
        f"{len(lives)} lives in {seconds:.0f} s: {sum(each.moves for each in lives)} moves, "
        f"{sum(each.boots for each in lives)} starts, {asked} requests, of which {again} were "
        f"answered by another member than the first and {failed} not in time."
    )


def _listed(seeds: Sequence[int]) -> str:
    return f": {', '.join(str(each) for each in seeds)}" if seeds else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20, help="so many seeds")
    parser.add_argument("--first", type=int, default=1, help="the first of them")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--real", action="store_true", help="with processes, in real time")
    parser.add_argument("--runs", type=int, default=10, help="so many, with --real")
    parser.add_argument("--seconds", type=float, default=20.0, help="so long each, with --real")
    parser.add_argument("--etcd", default="", help="the program of an etcd to meet in, with --real")
    parser.add_argument("--story", action="store_true", help="print what broke, with --seed")
    parser.add_argument("--faults", default=",".join(FAULTS), help="what may break")
    parser.add_argument("--processes", type=int, default=PROCESSES)
    return parser


if __name__ == "__main__":
    sys.exit(main())
