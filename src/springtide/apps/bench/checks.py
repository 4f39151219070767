"""Whether the answer holds: its invariants, the published means, and that ours packs as well as any.

Whether recorded placements are met is `parity`'s. What does not apply is skipped and says why: a check
that silently does nothing is taken for one that passed.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from springtide.apps.bench.jobs import Done
from springtide.apps.bench.published import GPUS, MEANS, SEEDS, TUNE, Within, within
from springtide.apps.bench.report import CheckReport, Spread, SpreadReport, State

OURS: Final = "prod"
BAR: Final = "first-fit"
"""The simplest policy there is, and on this trace a better one than most."""
LAST_PCT: Final = max(MEANS)


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """On what terms the runs were made; published means hold on terms of their own."""

    seeds: range
    tune: float
    gpus: int

    @property
    def obstacle(self) -> str | None:
        """Return why published means say nothing about these runs, None if they do."""
        if self.gpus != GPUS:
            return f"it is published for a cluster of {GPUS:,} GPUs, these nodes have {self.gpus:,}"
        if self.tune != TUNE:
            return f"it is published for --tune {TUNE:g}"
        if len(self.seeds) < len(SEEDS):
            return f"it is published for {len(SEEDS)} seeds, and fewer spread too much"
        return None


def verdict(name: str, text: str, *, holds: bool) -> CheckReport:
    """Return a check that passed or failed."""
    state: State = "passed" if holds else "failed"
    return CheckReport(name=name, state=state, text=text)


def skipped(name: str, why: str) -> CheckReport:
    """Return a check that does not apply."""
    return CheckReport(name=name, state="skipped", text=why)


def invariants(answers: Iterable[Done]) -> Iterator[CheckReport]:
    """Yield for each trace whether everything that must hold of a run held at every step."""
    by_trace: dict[str, list[Done]] = {}
    for each in answers:
        by_trace.setdefault(each.report.trace, []).append(each)
    for trace, done in by_trace.items():
        name = f"invariants on {trace}"
        broken = [
            f"{each.report.policy}: {each.violation}" for each in done if each.violation is not None
        ]
        arrivals = sum(each.report.pods for each in done)
        runs = "1 run" if len(done) == 1 else f"{len(done):,} runs"
        fine = f"{runs}, {arrivals:,} arrivals: nothing out of bounds, all sums right"
        told = f"{len(broken):,} of {runs} break one, first {broken[0]}" if broken else fine
        yield verdict(name, told, holds=not broken)


def means(spreads: Iterable[SpreadReport], *, terms: Terms) -> Iterator[CheckReport]:
    """Yield whether means over seeds are as published, where something is published."""
    for each in spreads:
        name = f"mean allocation of {each.policy} on {each.trace}"
        known = {at: within(each.trace, each.policy, at) for at in MEANS}
        if None in known.values():
            continue
        if terms.obstacle is not None:
            yield skipped(name, terms.obstacle)
            continue
        parts = [_held(each.alloc_pct[str(at)], at, bound) for at, bound in known.items() if bound]
        yield verdict(name, "; ".join(told for told, _ in parts), holds=all(ok for _, ok in parts))


def _held(found: Spread | None, at: int, bound: Within) -> tuple[str, bool]:
    published = f"published {bound.mean_pct:.2f} ± {bound.tolerance_pct:.2f}"
    if found is None:
        return f"no value at {at}% of arrivals, {published}", False
    holds = abs(found.mean - bound.mean_pct) <= bound.tolerance_pct
    return f"{found.mean:.2f} at {at}% of arrivals, {published}", holds


def ours(spreads: Iterable[SpreadReport]) -> Iterator[CheckReport]:
    """Yield for each trace whether what the live scheduler ships packs as well as the bar."""
    by_trace: dict[str, dict[str, SpreadReport]] = {}
    for each in spreads:
        by_trace.setdefault(each.trace, {})[each.policy] = each
    for trace, found in by_trace.items():
        name = f"{OURS} against {BAR} on {trace}"
        if OURS not in found or BAR not in found:
            yield skipped(name, f"both have to run: --policy {OURS},{BAR}")
            continue
        (mine, at), (bar, _) = _reached(found[OURS]), _reached(found[BAR])
        told = f"{mine:.2f} {at}, {BAR} {bar:.2f}"
        yield verdict(name, told, holds=mine >= bar)


def _reached(each: SpreadReport) -> tuple[float, str]:
    """Return the allocation at the arrivals of the published runs, else at the end."""
    last = each.alloc_pct[str(LAST_PCT)]
    if last is None:
        return each.gpu_pct.mean, "at the end"
    return last.mean, f"at {LAST_PCT}% of arrivals"
