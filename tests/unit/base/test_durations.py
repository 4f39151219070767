"""Durations, as Go reads and writes them."""

import pytest

from springtide.base.durations import MalformedDuration, format_duration, parse_duration_ns

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "nanoseconds", "canonical"),
    [
        ("0", 0, "0s"),
        ("10s", 10 * SECOND, "10s"),
        ("1m30s", 90 * SECOND, "1m30s"),
        ("600s", 600 * SECOND, "10m0s"),
        ("1h", 3600 * SECOND, "1h0m0s"),
        ("-500ms", -SECOND // 2, "-500ms"),
        ("1.5s", 3 * SECOND // 2, "1.5s"),
        (".5ms", SECOND // 2000, "500µs"),
        ("7ns", 7, "7ns"),
        ("+1.25us", 1250, "1.25µs"),
        ("100.00000005s", 100 * SECOND + 50, "1m40.00000005s"),
    ],
)
def test_a_duration_is_read_exactly_and_written_canonically(
    text: str, nanoseconds: int, canonical: str
) -> None:
    assert parse_duration_ns(text) == nanoseconds
    assert format_duration(nanoseconds) == canonical
    assert parse_duration_ns(canonical) == nanoseconds


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        ("abc", 'time: invalid duration "abc"'),
        ("10", 'time: missing unit in duration "10"'),
        ("3 s", 'time: unknown unit " s" in duration "3 s"'),
        ("9999999h", 'time: invalid duration "9999999h"'),
    ],
)
def test_what_is_no_duration_is_told_as_go_tells_it(text: str, reason: str) -> None:
    with pytest.raises(MalformedDuration) as caught:
        parse_duration_ns(text)

    assert str(caught.value) == reason
