"""Curves over several orders: the mean and the standard deviation at each percent of arrival."""

from collections.abc import Sequence

import msgspec
import numpy as np

from springtide.apps.bench.jobs import Done
from springtide.model.columns import Float64, Int64


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """Values at 0, 1, 2, ... % of arrival, NaN where there is none; `sd` is 0 where there is one."""

    mean: Float64
    sd: Float64


class Bands(msgspec.Struct, frozen=True, kw_only=True):
    """What one policy comes to on one trace, in % of the GPU capacity."""

    trace: str
    policy: str
    alloc_pct: Band
    frag_pct: Band


def bands(answers: Sequence[Done]) -> tuple[Bands, ...]:
    """Return the bands of every trace and policy, in the order of the runs."""
    together: dict[tuple[str, str], list[Done]] = {}
    for each in answers:
        together.setdefault((each.report.trace, each.report.policy), []).append(each)
    return tuple(
        Bands(
            trace=trace,
            policy=policy,
            alloc_pct=band([each.curve.alloc_pct for each in done]),
            frag_pct=band([each.curve.frag_pct for each in done]),
        )
        for (trace, policy), done in together.items()
    )


def band(curves: Sequence[Float64]) -> Band:
    """Return the band of some curves: at each percent of those that have a value there."""
    rows = np.full((len(curves), max(map(len, curves))), np.nan)
    for row, curve in zip(rows, curves, strict=True):
        row[: len(curve)] = curve
    counts = np.isfinite(rows).sum(axis=0)
    mean = _divided(np.nansum(rows, axis=0), counts)
    squares = np.nansum((rows - mean) ** 2, axis=0)
    return Band(mean=mean, sd=np.sqrt(_divided(squares, counts - 1, otherwise=0.0)))


def _divided(sums: Float64, counts: Int64, *, otherwise: float = np.nan) -> Float64:
    found = np.full(len(sums), otherwise)
    np.divide(sums, counts, out=found, where=counts > 0)
    return found
