"""Bodies of Prometheus, row by row."""

from decimal import Decimal

import msgspec
import pytest

from springtide.model.replicas.answer import (
    Answer,
    Answered,
    HttpFailed,
    Refused,
    Sample,
    Series,
    Unreadable,
)
from springtide.wire.prometheus import BODY_BYTES_MAX, read_answer


def body(kind: str, result: object, **more: object) -> bytes:
    """Return an envelope of success."""
    data = {"resultType": kind, "result": result}
    return msgspec.json.encode({"status": "success", "data": data, **more})


def vector(value: object) -> bytes:
    """Return a vector of one value."""
    return body("vector", [{"metric": {"service_name": "chat"}, "value": [1000.5, value]}])


def one(value: str) -> Answered:
    """Return what such a vector says."""
    return Answered(
        series=(Series({"service_name": "chat"}, (Sample(1_000_500, Decimal(value)),)),)
    )


REFUSED = b'{"status":"error","errorType":"execution","error":"many-to-many","data":{"x":1}}'
ROWS: dict[str, tuple[int, bytes, Answer]] = {
    "Z-1": (200, vector("4800"), one("4800")),
    "Z-2": (200, body("vector", []), Answered(series=())),
    "Z-3 Inf": (200, vector("+Inf"), one("Infinity")),
    "Z-4": (
        200, body("scalar", [1, "3"]), Answered(series=(Series({}, (Sample(1000, Decimal(3)),)),))
    ),
    "Z-6": (422, REFUSED, Refused(kind="execution", message="many-to-many")),
    "Z-7": (200, b"<html>log in</html>", Unreadable("it is no envelope of Prometheus")),
    "Z-8": (
        200,
        body("vector", [{"metric": {}, "histogram": [1, {"count": "3"}]}]),
        Unreadable("it holds a histogram where a number belongs"),
    ),
    "Z-9": (200, vector("1e-07"), one("1e-07")),
    "Z-10": (
        200,
        body("vector", [], warnings=["a store is away"]),
        Answered(series=(), warnings=("a store is away",)),
    ),
    "a number in JSON": (200, vector(42), one("42")),
    "a log-in": (302, b"", HttpFailed(302)),
    "a proxy without a backend": (503, b"no backend", HttpFailed(503)),
    "a text": (200, body("string", [1, "x"]), Unreadable("its result is a string and no number")),
    "no number": (200, vector("many"), Unreadable('"many" is no number')),
    "a truth": (200, vector(value=True), Unreadable("a value is bool and no number")),
    "endless": (200, vector("1e99999"), Unreadable('"1e99999" is beyond what Prometheus counts')),
    "long": (
        200,
        vector("1" * 500),
        Unreadable("a number is longer than any that Prometheus writes"),
    ),
    "no data": (200, b'{"status":"success","data":null}', Unreadable("it has no result")),
    "no samples": (
        200,
        body("matrix", [{"metric": {}, "values": []}]),
        Unreadable("a series has no value"),
    ),
    "no time": (
        200,
        body("vector", [{"metric": {}, "value": ["1"]}]),
        Unreadable("a value has no time"),
    ),
    "no finite time": (200, body("scalar", ["NaN", "1"]), Unreadable("a time is no number")),
    "a success with a failure's status": (400, body("vector", []), HttpFailed(400)),
}  # fmt: skip


@pytest.mark.parametrize(("status", "sent", "answer"), ROWS.values(), ids=ROWS)
def test_a_body_says(status: int, sent: bytes, answer: Answer) -> None:
    assert read_answer(status, sent) == answer


def test_z_3_nan_stays_what_it_is() -> None:
    answer = read_answer(200, vector("NaN"))

    assert isinstance(answer, Answered)
    assert answer.series[0].samples[0].value.is_nan()


def test_z_5_a_matrix_keeps_its_times() -> None:
    values = [[1, "1"], [2, "2"], [3, "3"]]

    answer = read_answer(200, body("matrix", [{"metric": {}, "values": values}]))

    assert isinstance(answer, Answered)
    assert [each.value for each in answer.series[0].samples] == [1, 2, 3]


def test_a_body_beyond_the_bound_is_not_decoded() -> None:
    answer = read_answer(200, b" " * (BODY_BYTES_MAX + 1))

    assert isinstance(answer, Unreadable)
    assert str(BODY_BYTES_MAX) in answer.why
