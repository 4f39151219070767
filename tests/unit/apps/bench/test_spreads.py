"""Means and standard deviations over seeds."""

import math

import pytest

from springtide.apps.bench.spreads import spread, spreads
from tests.benches import reported


def test_a_spread_is_that_of_a_sample() -> None:
    found = spread([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0])

    assert found.mean == 5.0
    assert found.sd == pytest.approx(math.sqrt(32 / 7))


def test_one_value_does_not_spread() -> None:
    found = spread([2.5])

    assert (found.mean, found.sd) == (2.5, None)


def test_values_far_from_zero_keep_their_spread() -> None:
    found = spread([1e12 + 1, 1e12 + 2, 1e12 + 3])

    assert found.sd == pytest.approx(1.0)


def test_runs_of_one_policy_and_trace_are_told_together() -> None:
    runs = [
        reported("fgd", at_100=95.0),
        reported("fgd", at_100=96.0),
        reported("fgd", trace="other", at_100=90.0),
        reported("bestfit", at_100=93.0),
    ]

    found = spreads(runs)

    assert [(each.trace, each.policy, each.runs) for each in found] == [
        ("default", "fgd", 2),
        ("other", "fgd", 1),
        ("default", "bestfit", 1),
    ]
    at_100 = found[0].alloc_pct["100"]
    assert at_100 is not None
    assert at_100.mean == 95.5


def test_a_value_that_one_run_lacks_has_no_mean() -> None:
    found = spreads([reported("fgd", at_100=95.0), reported("fgd", at_100=None)])

    assert found[0].alloc_pct["100"] is None


def test_nothing_is_compared_with_the_reference_on_another_cluster() -> None:
    found = spreads([reported("fgd")])

    assert found[0].times_as_shipped is None
    assert found[0].times_report_off is None
