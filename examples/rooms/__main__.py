"""`python -m examples.rooms` runs the service on this machine; see README.md beside it."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from typing import Final

from examples.rooms.etcd import EtcdNotStarted
from examples.rooms.showing import Plan, show
from examples.rooms.weather import FAULTS

MEMBERS: Final = range(4, 13)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 1 if anything went wrong."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    faults = tuple(each for each in asked.faults.split(",") if each)
    unknown = [each for each in faults if each not in FAULTS]
    if unknown:
        parser.error(f"--faults: {unknown[0]} is none of {', '.join(FAULTS)}.")
    if asked.members not in MEMBERS:
        parser.error(f"--members: {asked.members} is not between 4 and 12.")
    plan = Plan(
        seconds=asked.seconds,
        members=asked.members,
        rooms=asked.rooms,
        seed=asked.seed,
        faults=faults,
        pace=asked.pace,
        folder=asked.folder,
        etcd=asked.etcd,
    )
    try:
        return 0 if asyncio.run(show(plan, _say)).is_well else 1
    except KeyboardInterrupt:
        return 130
    except EtcdNotStarted as fault:
        parser.error(f"--etcd: {fault}")
    except ExceptionGroup as faults:
        # It is started again by whoever wipes it.
        found: Exception | None = faults.subgroup(EtcdNotStarted)
        while isinstance(found, ExceptionGroup):
            found = found.exceptions[0]
        if found is None:
            raise
        parser.error(f"--etcd: {found}")


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m examples.rooms",
        description="Run members of a chat service as processes, with users and a checker.",
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="so long (60)")
    parser.add_argument("--members", type=int, default=6, help="at most so many, 4 to 12 (6)")
    parser.add_argument("--rooms", type=int, default=24, help="so many rooms (24)")
    parser.add_argument("--seed", type=int, default=1, help="what is drawn, is drawn from this (1)")
    parser.add_argument(
        "--faults", default="", help=f"what breaks: {','.join(FAULTS)}; nothing if left out"
    )
    parser.add_argument("--pace", type=float, default=0.1, help="1 is as in production (0.1)")
    parser.add_argument(
        "--etcd", default="", metavar="PROGRAM", help="meet in an etcd, which is run for it"
    )
    parser.add_argument("--folder", default="", help="where journals and logs are kept")
    return parser


if __name__ == "__main__":
    sys.exit(main())
