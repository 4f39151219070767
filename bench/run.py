"""Run the benchmarks: `python bench/run.py [NAME]...` prints one figure a line.

A figure is a rate or a ratio measured in this run. `budgets.toml` says what each should reach; a
figure that misses its budget is marked, and the exit status is 1.
"""

import gc
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parent))

from bench import (  # noqa: E402
    adapter,
    adapter_uncached,
    calls,
    churn,
    claims,
    command,
    decode,
    device_selectors,
    end_to_end,
    estimate,
    explanations,
    filters,
    first_sight,
    gangs,
    headroom,
    informers,
    live,
    live_path,
    openb,
    overlay,
    placing,
    plan_dump,
    recordings,
    replay,
    replica_evaluation,
    replica_fanout,
    replica_members,
    schedulable,
    scheduling,
    scores,
    simulation,
    simulation_calls,
)
from bench.figure import Figure  # noqa: E402

BENCHES: dict[str, Callable[[], Iterator[Figure]]] = {
    "adapter": adapter.measure,
    "adapter_uncached": adapter_uncached.measure,
    "replica_evaluation": replica_evaluation.measure,
    "replica_fanout": replica_fanout.measure,
    "replica_members": replica_members.measure,
    "decode": decode.measure,
    "plan_dump": plan_dump.measure,
    "explanations": explanations.measure,
    "gangs": gangs.measure,
    "first_sight": first_sight.measure,
    "filters": filters.measure,
    "schedulable": schedulable.measure,
    "scheduling": scheduling.measure,
    "estimate": estimate.measure,
    "headroom": headroom.measure,
    "live_path": live_path.measure,
    "overlay": overlay.measure,
    "placing": placing.measure,
    "live": live.measure,
    "calls": calls.measure,
    "replay": replay.measure,
    "scores": scores.measure,
    "simulation": simulation.measure,
    "simulation_calls": simulation_calls.measure,
    "device_selectors": device_selectors.measure,
    "claims": claims.measure,
    "informers": informers.measure,
    "churn": churn.measure,
    "openb": openb.measure,
    "recordings": recordings.measure,
    "command": command.measure,
    "end_to_end": end_to_end.measure,
}


def main(names: list[str]) -> int:
    """Run these benchmarks, all if none is named, and return the exit status."""
    unknown = sorted(set(names) - set(BENCHES))
    if unknown:
        print(f"{', '.join(unknown)}: no such benchmark; there are {', '.join(BENCHES)}")
        return 2
    gc.disable()  # As the command does.
    budgets = tomllib.loads((ROOT / "budgets.toml").read_text())
    missed = 0
    for name in names or BENCHES:
        for figure in BENCHES[name]():
            limit = budgets.get(name, {}).get(figure.name)
            verdict, is_missed = _verdict(figure, limit)
            missed += is_missed
            label = f"{name}: {figure.name}"
            print(
                f"{label:44} {figure.value:12,.2f} {figure.unit:10} {verdict:24} {figure.how}",
                flush=True,
            )
    return 1 if missed else 0


def _verdict(figure: Figure, limit: dict[str, float] | None) -> tuple[str, bool]:
    if limit is None:
        return "", False
    if "at_least" in limit:
        bound, is_missed = limit["at_least"], figure.value < limit["at_least"]
        return f"{'MISSED' if is_missed else 'ok'}, at least {bound:,g}", is_missed
    bound, is_missed = limit["at_most"], figure.value > limit["at_most"]
    return f"{'MISSED' if is_missed else 'ok'}, at most {bound:,g}", is_missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
