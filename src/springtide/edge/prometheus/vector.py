"""Answers of instant queries: one value for each set of labels, as they were written.

Values stay texts, because a float that was read has lost what it was exactly. The time beside a value is
that of the evaluation, not that of the sample.
"""

from typing import Annotated, Final

import msgspec

from springtide.edge.prometheus.errors import Malformed, Refused

SERIES_MAX: Final = 200_000
_OK: Final = 200
_REDIRECTS: Final = range(300, 400)
_ADDRESS: Final = "Correct the address of Prometheus in the configuration."


class Element(msgspec.Struct, frozen=True):
    """One value with its labels, `(evaluated_unix_s, text)`."""

    metric: dict[str, str]
    value: tuple[float, str]


class Vector(msgspec.Struct, frozen=True, kw_only=True):
    """All values; `warnings` say why some may be missing or wrong, in the words of who answered."""

    elements: list[Element]
    warnings: tuple[str, ...] = ()


class _Data(msgspec.Struct, frozen=True, rename="camel"):
    result_type: str
    result: msgspec.Raw


class _Envelope(msgspec.Struct, frozen=True, rename="camel"):
    status: str
    data: _Data | None = None
    error_type: str = ""
    error: str = ""
    warnings: tuple[str, ...] | None = None


_ENVELOPE: Final = msgspec.json.Decoder(_Envelope)
_ELEMENTS: Final = msgspec.json.Decoder(
    Annotated[list[Element], msgspec.Meta(max_length=SERIES_MAX)]
)
_SCALAR: Final = msgspec.json.Decoder(tuple[float, str])


def read_vector(body: bytes, *, status: int = _OK) -> Vector:
    """Return what was answered; raises Refused or Malformed."""
    try:
        envelope = _ENVELOPE.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise _foreign(status) from fault
    if envelope.status != "success" or status != _OK:
        kind = envelope.error_type or f"http_{status}"
        raise Refused(kind, envelope.error or "nothing else was said.")
    if envelope.data is None:
        raise Malformed(f"Prometheus answered without data. {_ADDRESS}")
    try:
        elements = _elements(envelope.data)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise Malformed(f"Prometheus answered values that cannot be read: {fault}.") from fault
    return Vector(elements=elements, warnings=envelope.warnings or ())


def _elements(data: _Data) -> list[Element]:
    match data.result_type:
        case "vector":
            return _ELEMENTS.decode(data.result)
        case "scalar":
            return [Element({}, _SCALAR.decode(data.result))]
        case other:
            raise Malformed(f"A query of one instant was answered with a {other}. {_ADDRESS}")


def _foreign(status: int) -> Refused | Malformed:
    if status == _OK:
        return Malformed(f"What answers is no Prometheus: its answer is no JSON. {_ADDRESS}")
    where = "sent away" if status in _REDIRECTS else "refused"
    return Refused(f"http_{status}", f"the query was {where} by what stands before it. {_ADDRESS}")
