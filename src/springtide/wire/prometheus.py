"""Answers of Prometheus' query API, decoded into exact numbers.

Anything else than its envelope is told apart: a proxy's page, a status, a histogram where a number
belongs. An error that still carries data is an error. Numbers beyond what a float holds are refused
before anything is computed with them.
"""

from decimal import Decimal, InvalidOperation
from http import HTTPStatus
from typing import Final

import msgspec

from springtide.model.replicas.answer import (
    Answer,
    Answered,
    HttpFailed,
    Refused,
    Sample,
    Series,
    Unreadable,
)

BODY_BYTES_MAX: Final = 8 * 1024 * 1024
DIGITS_MAX: Final = 400
EXPONENT_MAX: Final = 400

_ENVELOPED: Final = frozenset({
    HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.INTERNAL_SERVER_ERROR, HTTPStatus.NOT_FOUND,
})  # fmt: skip
_PAIR: Final = 2


class _Envelope(msgspec.Struct, frozen=True, rename="camel"):
    status: str
    data: object = None
    error_type: str = ""
    error: str = ""
    warnings: list[str] | None = None


class _Odd(Exception):
    """Something in the data is not as Prometheus writes it."""


def read_answer(status: int, body: bytes) -> Answer:
    """Return what an answer of this status says."""
    is_success = HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES
    if not is_success:
        return _failure(status, body)
    if len(body) > BODY_BYTES_MAX:
        return Unreadable(f"it has {len(body)} bytes, and {BODY_BYTES_MAX} are read at most")
    envelope = _envelope(body)
    if envelope is None:
        return Unreadable("it is no envelope of Prometheus")
    return _refusal(envelope) or _content(envelope)


def _failure(status: int, body: bytes) -> Refused | HttpFailed:
    is_enveloped = status in _ENVELOPED and len(body) <= BODY_BYTES_MAX
    envelope = _envelope(body) if is_enveloped else None
    refusal = _refusal(envelope) if envelope is not None else None
    return refusal or HttpFailed(status)


def _envelope(body: bytes) -> _Envelope | None:
    try:
        return msgspec.json.decode(body, type=_Envelope)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _refusal(envelope: _Envelope) -> Refused | None:
    if envelope.status == "success":
        return None
    return Refused(kind=envelope.error_type or "unknown", message=envelope.error)


def _content(envelope: _Envelope) -> Answered | Unreadable:
    try:
        series = _series(envelope.data)
    except _Odd as odd:
        return Unreadable(str(odd))
    return Answered(series=series, warnings=tuple(envelope.warnings or ()))


def _series(data: object) -> tuple[Series, ...]:
    match data:
        case {"resultType": "vector" | "matrix", "result": list(items)}:
            return tuple(_one(each) for each in items)
        case {"resultType": "scalar", "result": list(pair)}:
            return (Series({}, (_sample(pair),)),)
        case {"resultType": str(kind)}:
            raise _Odd(f"its result is a {kind} and no number")
        case _:
            raise _Odd("it has no result")


def _one(item: object) -> Series:
    match item:
        case {"histogram": _} | {"histograms": _}:
            raise _Odd("it holds a histogram where a number belongs")
        case {"metric": dict(labels), "value": list(pair)}:
            return Series(_labels(labels), (_sample(pair),))
        case {"metric": dict(labels), "values": list(pairs)} if pairs:
            return Series(_labels(labels), tuple(_sample(pair) for pair in pairs))
        case _:
            raise _Odd("a series has no value")


def _labels(labels: dict[object, object]) -> dict[str, str]:
    return {str(name): str(value) for name, value in labels.items()}


def _sample(pair: object) -> Sample:
    if not isinstance(pair, list) or len(pair) != _PAIR:
        raise _Odd("a value has no time")
    at_s = _number(pair[0])
    if not at_s.is_finite():
        raise _Odd("a time is no number")
    return Sample(int(at_s * 1000), _number(pair[1]))


def _number(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _Odd(f"a value is {type(value).__name__} and no number")
    text = str(value)
    if len(text) > DIGITS_MAX:
        raise _Odd("a number is longer than any that Prometheus writes")
    try:
        number = Decimal(text)
    except InvalidOperation as fault:
        raise _Odd(f'"{text}" is no number') from fault
    if number.is_finite() and number and abs(number.adjusted()) > EXPONENT_MAX:
        raise _Odd(f'"{text}" is beyond what Prometheus counts')
    return Decimal("NaN") if number.is_nan() else number
