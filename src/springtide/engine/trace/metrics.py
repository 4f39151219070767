"""Curves over arrival as published: values by how much was asked for so far, in per cent of the GPUs."""

from typing import Final

import numpy as np

from springtide.engine.trace.run import Run
from springtide.model.columns import Float64, Int64

ARRIVED_PCT_MAX: Final = 130


def allocation_pct(run: Run, *, last_pct: int = ARRIVED_PCT_MAX) -> Float64:
    """Return how many per cent of all GPU milli are used, by arrival from 0 to `last_pct` per cent.

    The published experiments note each value with two decimals and take means of those.
    """
    used_pct = (100 * run.used_milli / run.capacity.gpu_milli).round(2)
    return by_arrival(run, used_pct, last_pct=last_pct)


def frag_pct(run: Run, *, last_pct: int = ARRIVED_PCT_MAX) -> Float64:
    """Return how many per cent of all GPU milli are fragments, by arrival."""
    return by_arrival(run, 100 * run.frag_milli / run.capacity.gpu_milli, last_pct=last_pct)


def by_arrival(run: Run, values: Int64 | Float64, *, last_pct: int = ARRIVED_PCT_MAX) -> Float64:
    """Return the mean of values by arrival in whole per cent, not a number where there are none.

    A per cent at which nothing was noted has the mean of its two neighbours.
    """
    arrived_pct = np.rint(100 * run.arrived_milli / run.capacity.gpu_milli).astype(np.int64)
    size = last_pct + 2
    is_counted = arrived_pct < size
    at = arrived_pct[is_counted]
    counts = np.bincount(at, minlength=size).astype(np.float64)
    sums = np.bincount(at, values[is_counted], minlength=size).astype(np.float64)
    means = _divided(sums, counts)
    missing = counts == 0
    means[missing] = _divided(_beside(sums), _beside(counts))[missing]
    return means[: last_pct + 1]


def _beside(values: Float64) -> Float64:
    """Return for each place the sum of its neighbours."""
    padded = np.pad(values, 1)
    return padded[:-2] + padded[2:]


def _divided(sums: Float64, counts: Float64) -> Float64:
    quotients = np.full_like(sums, np.nan)
    return np.divide(sums, counts, out=quotients, where=counts > 0)
