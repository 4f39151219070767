"""What stands for a metric that failed several times in a row, where an operator gave a number for it.

It is a floor beside what the other metrics ask for. On the way down it stands only beside another metric that
is known to shrink by; alone it makes a workload grow, and never takes anything away.
"""

from collections.abc import Iterable
from decimal import Decimal

import msgspec
from msgspec.structs import replace

from springtide.engine.replicas.combination import Reading
from springtide.model.replicas.policy import Policy


class Filled(msgspec.Struct, frozen=True, kw_only=True):
    """The readings with what stands for those that failed, how often each did in a row, and the words."""

    readings: tuple[Reading, ...]
    failures: dict[str, int]
    words: tuple[str, ...]


def filled(
    policies: Iterable[Policy], readings: Iterable[Reading], failures: dict[str, int]
) -> Filled:
    """Count one more evaluation, and put numbers in the place of what failed too often."""
    listed = tuple(readings)
    numbers = {each.name: each.fallback for each in policies if each.fallback.replicas > 0}
    counted = {
        each.policy: failures.get(each.policy, 0) + 1
        for each in listed
        if each.policy in numbers and _is_failed(each)
    }
    standing = {
        name: numbers[name].replicas
        for name, count in counted.items()
        if count >= numbers[name].failures
    }
    is_down_known = any(each.down_per_replica and each.down_total is not None for each in listed)
    return Filled(
        readings=tuple(_stood(each, standing, is_down_known=is_down_known) for each in listed),
        failures=counted,
        words=tuple(
            f"{name} failed {counted[name]} times in a row, so {replicas} replicas stand for it."
            for name, replicas in standing.items()
        ),
    )


def _is_failed(reading: Reading) -> bool:
    """Return whether it says nothing at all; a part of a sum is the least that the load can be."""
    return reading.up_total is None and reading.down_total is None


def _stood(reading: Reading, standing: dict[str, int], *, is_down_known: bool) -> Reading:
    replicas = standing.get(reading.policy)
    if replicas is None:
        return reading
    number = Decimal(replicas)
    grown = replace(reading, up_total=number, up_per_replica=1)
    return replace(grown, down_total=number, down_per_replica=1) if is_down_known else grown
