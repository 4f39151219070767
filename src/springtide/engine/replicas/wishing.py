"""What is wanted of an executor, from the samples of one workload's members.

Stale samples and those that are no numbers are left out, and what is left unknown by that is said. A member
that has told an index has spoken, also with 0; only a number above 0 must keep serving.
"""

from decimal import ROUND_CEILING, Decimal, InvalidOperation

import msgspec

from springtide.engine.metrics import Sample, Table
from springtide.engine.replicas.executing import Wish


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """The three metrics of one workload; older samples than `age_s_max` do not count."""

    expected: Table
    index: Table
    generation: Table
    age_s_max: float
    member_label: str = "instance"


def wish(heard: Heard) -> Wish:
    """Return what is wanted, None where it is unknown, with the words why."""
    generation, why_generation = _largest(heard, heard.generation, "the generation", least=0)
    expect, why_expect = _largest(heard, heard.expected, "what is expected", least=1)
    floor, why_floor = _largest(heard, heard.index, "who must serve", least=0)
    is_known = floor is not None
    return Wish(
        generation=generation,
        expect=expect,
        floor=floor,
        ready=_ready(heard) if is_known else None,
        spoken=_spoken(heard) if is_known else None,
        why="; ".join(filter(None, (why_generation, why_expect, why_floor))),
    )


def _largest(heard: Heard, table: Table, what: str, *, least: int) -> tuple[int | None, str]:
    if len(table.names) > 1:
        return None, f"{what} is there by several names: {', '.join(table.names)}"
    if table.is_partial:
        return None, f"the samples of {what} may be incomplete"
    counted = _counted(heard, table)
    if not counted:
        return None, f"there is no sample of {what} that is new and a number"
    largest = max(number for number, _ in counted)
    if largest < least:
        return None, f"{what} is {largest}, which is no number of members"
    return largest, ""


def _ready(heard: Heard) -> frozenset[int]:
    return frozenset(number for number, _ in _counted(heard, heard.index) if number > 0)


def _spoken(heard: Heard) -> int:
    samples = (sample for _, sample in _counted(heard, heard.index))
    return len({each.labels.get(heard.member_label, "") for each in samples})


def _counted(heard: Heard, table: Table) -> list[tuple[int, Sample]]:
    """Return the samples that are new, with their numbers."""
    found = []
    for sample in (each for samples in table.samples.values() for each in samples):
        number = _number(sample.text)
        if number is not None and table.unix_s - sample.unix_s <= heard.age_s_max:
            found.append((number, sample))
    return found


def _number(text: str) -> int | None:
    """Return a number that is not negative, rounded up; None for anything else."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or number < 0 or number > 2**53:
        return None
    return int(number.to_integral_value(ROUND_CEILING))
