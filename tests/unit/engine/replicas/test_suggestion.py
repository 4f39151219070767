"""The arithmetic of one metric, row by row."""

from decimal import Decimal

import pytest

from springtide.engine.replicas.suggestion import suggest, suggest_truncated

EXACT = {
    "A-1": ("1", 500, 1),
    "A-2": ("500", 500, 1),
    "A-3": ("501", 500, 2),
    "A-4": ("1000", 500, 2),
    "A-5": ("1001", 500, 3),
    "A-6 up": ("4800", 600, 8),
    "A-6 down": ("4800", 500, 10),
    "A-7": ("2576980378", 2576980377, 2),
    "A-8": ("0", 500, 1),
    "A-9": ("0", 1, 1),
    "A-11": ("100.7", 100, 2),
    "A-12": ("1e+21", 500, 2**31 - 1),
    "Z-9": ("1e-07", 500, 1),
}

TRUNCATED = {
    "A-3": ("501", 500, 2),
    "A-8": ("0", 500, 1),
    "A-9": ("0", 1, 0),
    "A-10": ("-3", 500, 1),
    "A-11": ("100.7", 100, 1),
}


@pytest.mark.parametrize(("total", "per_replica", "replicas"), EXACT.values(), ids=EXACT)
def test_a_total_is_carried_by_so_many_replicas(
    total: str, per_replica: int, replicas: int
) -> None:
    """Covers R-7."""
    assert suggest(Decimal(total), per_replica) == replicas


@pytest.mark.parametrize(("total", "per_replica", "replicas"), TRUNCATED.values(), ids=TRUNCATED)
def test_an_older_fleet_truncates(total: str, per_replica: int, replicas: int) -> None:
    assert suggest_truncated(Decimal(total), per_replica) == replicas
