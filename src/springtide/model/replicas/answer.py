"""What Prometheus answered, or why it did not, decoded.

Numbers are exact decimals, as Prometheus writes them; NaN and the infinities stay what they are.
Times are milliseconds.
"""

from decimal import Decimal
from typing import TypeAlias

import msgspec


class Sample(msgspec.Struct, frozen=True):
    """One value at one time."""

    at_ms: int
    value: Decimal


class Series(msgspec.Struct, frozen=True):
    """Values under one set of labels, in the order of their times; never empty."""

    labels: dict[str, str]
    samples: tuple[Sample, ...]


class Answered(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Series, none where nothing matches, and what Prometheus warns of."""

    series: tuple[Series, ...]
    warnings: tuple[str, ...] = ()


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Prometheus said that the query failed, and why."""

    kind: str
    message: str


class HttpFailed(msgspec.Struct, frozen=True, tag=True):
    """Something answered with this status, and not as Prometheus does."""

    status: int


class Unreadable(msgspec.Struct, frozen=True, tag=True):
    """The answer is none of Prometheus, or holds what is no number."""

    why: str


class Unreachable(msgspec.Struct, frozen=True, tag=True):
    """No answer came: the name, the connection, the certificate, or the time."""

    why: str


Answer: TypeAlias = Answered | Refused | HttpFailed | Unreadable | Unreachable
