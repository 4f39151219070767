"""Whether the answer for a policy may count: its value for each direction, or why it is unknown.

An unknown is never a zero. The first thing that is wrong is the verdict. Growing takes more than
shrinking does: a sum of which parts are missing is still the least that the load can be.
"""

from collections.abc import Iterator
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias, assert_never

import msgspec

from springtide.engine.replicas.rows import Rows, rows_of, total
from springtide.model.replicas.answer import (
    Answer,
    Answered,
    HttpFailed,
    Refused,
    Unreachable,
    Unreadable,
)
from springtide.model.replicas.policy import Multi, Policy, Validity


class UnknownReason(StrEnum):
    """Why a metric may not count, spelt as in the label `reason` of `hpa_policy_unknown_total`."""

    TRANSPORT = "transport"
    HTTP = "http"
    API = "api"
    PARSE = "parse"
    NO_DATA = "no_data"
    AMBIGUOUS = "ambiguous"
    NAN = "nan"
    NEGATIVE = "negative"
    BOUNDS = "bounds"
    STALE = "stale"
    CLOCK = "clock"
    COVERAGE = "coverage"
    WARNING = "warning"
    ZERO = "zero"


class Direction(StrEnum):
    """Which way a value would move the replicas."""

    UP = "up"
    DOWN = "down"


class Unknown(msgspec.Struct, frozen=True):
    """A value that may not count; `detail` is the status or the kind of a fault of Prometheus."""

    reason: UnknownReason
    words: str
    detail: str = ""

    @property
    def label(self) -> str:
        """Return the reason as metrics carry it."""
        return f"{self.reason}_{self.detail}" if self.detail else str(self.reason)


Verdict: TypeAlias = Decimal | Unknown


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What one answer says for growing and for shrinking."""

    up: Verdict
    down: Verdict


class Circumstance(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is known beside the answer: our clock, how long ago it came, and who should report."""

    now_ms: int
    members_expected: int
    received_ago_ms: int = 0
    received_ago_max_ms: int = 370_000


def judge(policy: Policy, answer: Answer, circumstance: Circumstance) -> Judged:
    """Return the value for each direction, or why there is none."""
    if not isinstance(answer, Answered):
        fault = _fault(answer)
        return Judged(up=fault, down=fault)
    rows = rows_of(answer, policy.reduction)
    value = _value(policy, rows)
    if isinstance(value, Unknown):
        return Judged(up=value, down=value)
    return Judged(
        up=_judged(policy, value, rows, circumstance, Direction.UP),
        down=_judged(policy, value, rows, circumstance, Direction.DOWN),
    )


def is_soon_again(verdict: Verdict) -> bool:
    """Return whether to ask again after the short interval, as the fault may pass by itself."""
    if not isinstance(verdict, Unknown):
        return False
    if verdict.reason is UnknownReason.API:
        return verdict.detail in {"timeout", "canceled", "unavailable", "internal", "not_found"}
    return verdict.reason in {UnknownReason.TRANSPORT, UnknownReason.HTTP}


def _fault(answer: Refused | HttpFailed | Unreadable | Unreachable) -> Unknown:
    match answer:
        case Unreachable(why=why):
            return Unknown(UnknownReason.TRANSPORT, f"Prometheus could not be asked: {why}.")
        case HttpFailed(status=status):
            words = f"What answers in Prometheus' place says HTTP {status}; check its address."
            return Unknown(UnknownReason.HTTP, words, str(status))
        case Refused(kind=kind, message=message):
            return Unknown(UnknownReason.API, f"Prometheus refuses the query: {message}.", kind)
        case Unreadable(why=why):
            return Unknown(UnknownReason.PARSE, f"The answer cannot be read: {why}.")
        case _:
            assert_never(answer)


def _value(policy: Policy, rows: Rows) -> Verdict:
    values = rows.values
    if not values:
        if policy.validity.is_empty_zero:
            return Decimal(0)
        return Unknown(UnknownReason.NO_DATA, "No series matches; check the metric's name.")
    if len(values) > 1 and policy.multi is Multi.ERROR:
        words = f"{len(values)} series match where one total belongs; aggregate them."
        return Unknown(UnknownReason.AMBIGUOUS, words)
    if not all(each.is_finite() for each in values):
        return Unknown(UnknownReason.NAN, "The value is no number.")
    return total(values) if policy.multi is Multi.SUM else max(values)


def _judged(
    policy: Policy, value: Decimal, rows: Rows, circumstance: Circumstance, direction: Direction
) -> Verdict:
    doubts = (
        *_doubts_of_value(policy.validity, value),
        *_doubts_of_time(policy, rows, circumstance),
        *_doubts_of_parts(policy, rows, circumstance, direction),
        *_doubts_of_zero(policy.validity, value),
    )
    return doubts[0] if doubts else value


def _doubts_of_value(validity: Validity, value: Decimal) -> Iterator[Unknown]:
    least, most = validity.value_min, validity.value_max
    if value < 0:
        yield Unknown(UnknownReason.NEGATIVE, f"The total is {value}, below zero.")
    if (least is not None and value < least) or (most is not None and value > most):
        yield Unknown(UnknownReason.BOUNDS, f"The total {value} is out of the bounds set for it.")


def _doubts_of_time(policy: Policy, rows: Rows, circumstance: Circumstance) -> Iterator[Unknown]:
    age_s = rows.age_s
    is_missing = age_s is None and rows.count is not None and policy.is_aged
    if is_missing or (age_s is not None and not _is_fresh(age_s, policy.validity)):
        told = "unknown" if age_s is None else f"{age_s:f} s"
        words = f"The oldest member's data has an age of {told}; allowed are"
        yield Unknown(UnknownReason.STALE, f"{words} {policy.validity.data_age_max_ms / 1000:g} s.")
    if circumstance.received_ago_ms > circumstance.received_ago_max_ms:
        ago_s = circumstance.received_ago_ms / 1000
        yield Unknown(UnknownReason.STALE, f"The answer came {ago_s:g} s ago.")
    skew_ms = abs(rows.at_ms - circumstance.now_ms) if rows.at_ms is not None else 0
    if skew_ms > policy.validity.clock_skew_max_ms:
        words = f"Prometheus' clock and ours are {skew_ms / 1000:g} s apart; set them."
        yield Unknown(UnknownReason.CLOCK, words)


def _is_fresh(age_s: Decimal, validity: Validity) -> bool:
    return age_s.is_finite() and age_s * 1000 <= validity.data_age_max_ms


def _doubts_of_parts(
    policy: Policy, rows: Rows, circumstance: Circumstance, direction: Direction
) -> Iterator[Unknown]:
    validity, is_up = policy.validity, direction is Direction.UP
    permille = validity.coverage_up_permille if is_up else validity.coverage_down_permille
    needed = -(-permille * circumstance.members_expected // 1000)
    count = rows.count if rows.count is not None and rows.count.is_finite() else Decimal(0)
    # Where neither count nor age is there, everybody has died, and the value is what they left.
    has_nobody = rows.count is None and rows.age_s is None and policy.is_aged
    if policy.is_counted and (count < needed or has_nobody):
        words = f"{count} of {circumstance.members_expected} members report; {needed} are needed."
        yield Unknown(UnknownReason.COVERAGE, words)
    do_block = validity.do_warnings_block_up if is_up else validity.do_warnings_block_down
    if rows.warnings and do_block:
        words = f"Prometheus warns that parts may be missing: {rows.warnings[0]}."
        yield Unknown(UnknownReason.WARNING, words)


def _doubts_of_zero(validity: Validity, value: Decimal) -> Iterator[Unknown]:
    if value == 0 and validity.is_zero_unknown:
        yield Unknown(UnknownReason.ZERO, "The total is zero, which living members never use.")
