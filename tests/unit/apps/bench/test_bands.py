"""Curves over several orders."""

import numpy as np
import pytest

from springtide.apps.bench.bands import band, bands
from springtide.apps.bench.performing import perform
from tests.benches import job

NAN = float("nan")


def test_a_band_has_mean_and_deviation_at_each_percent() -> None:
    found = band([np.array([1.0, 4.0]), np.array([3.0, 4.0])])

    assert found.mean.tolist() == [2.0, 4.0]
    assert found.sd.tolist() == [pytest.approx(2**0.5), 0.0]


def test_curves_count_where_they_have_a_value() -> None:
    found = band([np.array([1.0, NAN, 5.0, NAN]), np.array([3.0, 2.0])])

    assert found.mean.tolist() == pytest.approx([2.0, 2.0, 5.0, NAN], nan_ok=True)
    assert found.sd.tolist() == [pytest.approx(2**0.5), 0.0, 0.0, 0.0]


def test_policies_keep_the_order_of_the_runs() -> None:
    found = bands([perform(job(policy)) for policy in ("random", "fgd", "random")])

    assert [(each.trace, each.policy) for each in found] == [("own", "random"), ("own", "fgd")]
    assert not found[0].alloc_pct.sd.any()
