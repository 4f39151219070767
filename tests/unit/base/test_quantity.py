"""Quantities: the vectors of the specification, constructors, rounding and arithmetic."""

import pytest

from springtide.base.quantity import (
    EXPONENT_MAX,
    INT64_MAX,
    INT64_MIN,
    NANO,
    TEXT_LENGTH_MAX,
    ZERO,
    Format,
    MalformedQuantity,
    Quantity,
    compare,
    from_json,
    from_json_text,
    of,
    parse,
)

PARSED_NANO = {
    "8Ki": 8192 * NANO,
    "3Ei": 3 * 2**60 * NANO,
    "5n": 5,
    "50k": 50_000 * NANO,
    "1E": 10**18 * NANO,
    "1E-3": NANO // 1000,
    "100.035k": 100_035 * NANO,
    "0.0005k": NANO // 2,
    "1.3E+6": 1_300_000 * NANO,
    "3.001n": 4,
    "1.1E-9": 2,
    "0.0000000001": 1,
    "0.00000012345": 124,
    "9Ei": INT64_MAX * NANO,
    "12E": 12 * 10**18 * NANO,
    "100.035Ki": 102_435_840 * NANO // 1000,
    "0.05Gi": 536_870_912 * NANO // 10,
    "0.000000000001Ki": 2,
    ".001": NANO // 1000,
    "1.": NANO,
    "1.G": 10**9 * NANO,
    ".": 0,
    "+1": NANO,
    "-1500m": -1500 * NANO // 1000,
    "1e4294967297": 10 * NANO,
    "1e-4294967297": NANO // 10,
    "k": 0,
    "Ki": 0,
    "-": 0,
    "-9Ei": -INT64_MAX * NANO,
}

INVALID = {
    "number": [
        "",
        "1.1.M",
        "1+1.0M",
        "0.1am",
        "aoeu",
        " 1",
        "1 ",
        "1_000",
        "NaN",
        "1..1",
        "\u0661",
    ],
    "suffix": [
        "0.1mi",
        ".5i",
        "1i",
        "-3.01i",
        "-3.01e-",
        "1K",
        "1e",
        "1ki",
        "1e99999999999999999999",
    ],
    "numeric": ["Pi", "-.Ei", "e-10", "+.Pi"],
}
REASONS = {
    "number": "quantities must match the regular expression"
    " '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    "suffix": "unable to parse quantity's suffix",
    "numeric": "unable to parse numeric part of quantity",
}

CANONICAL = {
    "1024Mi": "1Gi",
    "307200Ki": "300Mi",
    "1025024Mi": "1001Gi",
    "5000m": "5",
    "0.5": "500m",
    "1000M": "1G",
    "0.001T": "1G",
    "1000u": "1m",
    "1.08": "1080m",
    "1000E": "1",
    "1e21": "1e21",
    ".001e12": "1e9",
    "1000e-12": "1e-9",
    "00": "0",
    ".001Ki": "1024m",
    ".000000000001Ki": "2n",
    "1.5Gi": "1536Mi",
    "0.5Mi": "512Ki",
    "100.035Ki": "102435840m",
    "0.3Gi": "322122547200m",
    "0.1m": "100u",
    "1.0001": "1000100u",
    "-1024Mi": "-1Gi",
    "1023Ki": "1023Ki",
    "1000Ki": "1000Ki",
    "1e3": "1e3",
    "1e1": "10",
    "1024Pi": "1Ei",
}

VALUE_AND_MILLI = {
    "100m": (1, 100),
    "1500m": (2, 1500),
    "0.5": (1, 500),
    "100u": (1, 1),
    "2500u": (1, 3),
    "0.3Gi": (322122548, 322122547200),
    "-1500m": (-2, -1500),
    "-587.3546131705m": (-1, -588),
    "1.0001": (2, 1001),
    "123Mi": (128974848, 128974848000),
    "1E": (10**18, INT64_MAX),
    "12E": (INT64_MAX, INT64_MAX),
    "-12E": (INT64_MIN, INT64_MIN),
}

AS_INT64 = {
    "0": 0,
    "00": 0,
    "0Ki": 0,
    "0e5": 0,
    "0.0": None,
    "0n": None,
    "1k": 1000,
    "1e3": 1000,
    "1.5k": 1500,
    "1.0": None,
    "1.5": None,
    "500m": None,
    "1000m": None,
    "16Gi": 16 * 2**30,
    "1.5Gi": None,
    "1.Gi": 2**30,
    "99999999999Ki": 99_999_999_999 * 2**10,
    "100000000000Ki": None,
    "99999999Mi": 99_999_999 * 2**20,
    "100000000Mi": None,
    "99999Gi": 99_999 * 2**30,
    "100000Gi": None,
    "99Ti": 99 * 2**40,
    "100Ti": None,
    "1Pi": None,
    "999999999999999999": 10**18 - 1,
    "1000000000000000000": None,
    "9E": 9 * 10**18,
    "10E": None,
    "-5": -5,
}


@pytest.mark.parametrize(("text", "nano"), PARSED_NANO.items())
def test_a_text_is_read_to_the_last_nano(text: str, nano: int) -> None:
    found = parse(text)

    assert found.nano == nano


@pytest.mark.parametrize(
    ("text", "kind"), [(text, kind) for kind, texts in INVALID.items() for text in texts]
)
def test_a_malformed_text_is_refused_in_the_words_of_kubernetes(text: str, kind: str) -> None:
    with pytest.raises(MalformedQuantity) as caught:
        parse(text)

    assert caught.value.reason == REASONS[kind]
    assert caught.value.text == text
    assert f'"{text}"' in str(caught.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1e2147483647", "the exponent 2147483647 is beyond what any quantity needs"),
        ("1e-2147483649", "the exponent 2147483647 is beyond what any quantity needs"),
        (f"1e{EXPONENT_MAX + 1}", "beyond what any quantity needs"),
        (f"1e-{EXPONENT_MAX + 1}", "beyond what any quantity needs"),
        ("1" * (TEXT_LENGTH_MAX + 1), f"it is longer than {TEXT_LENGTH_MAX} characters"),
    ],
)
def test_what_no_quantity_can_need_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(MalformedQuantity, match=why):
        parse(text)


def test_the_message_about_a_long_text_stays_short() -> None:
    with pytest.raises(MalformedQuantity) as caught:
        parse("x" * 10_000)

    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("text", [f"{'9' * 1000}e{EXPONENT_MAX}", f"1e-{EXPONENT_MAX}"])
def test_the_largest_exponents_are_exact_and_printable(text: str) -> None:
    found = parse(text)

    assert parse(found.canonical()).nano == found.nano


@pytest.mark.parametrize(("text", "canonical"), CANONICAL.items())
def test_a_quantity_is_written_in_canonical_form(text: str, canonical: str) -> None:
    found = parse(text)

    assert found.canonical() == canonical
    assert str(found) == canonical


@pytest.mark.parametrize(("text", "answers"), VALUE_AND_MILLI.items())
def test_value_and_milli_round_away_from_zero_and_saturate(
    text: str, answers: tuple[int, int]
) -> None:
    found = parse(text)

    assert (found.value(), found.milli()) == answers


@pytest.mark.parametrize(("text", "integer"), AS_INT64.items())
def test_the_spelling_decides_whether_there_is_an_integer(text: str, integer: int | None) -> None:
    found = parse(text)

    assert found.as_int64() == integer


@pytest.mark.parametrize(
    ("left", "right", "order"),
    [
        ("10000T", "100Gi", 1),
        ("1Gi", "1G", 1),
        ("1024Ki", "1Mi", 0),
        ("1", "1000m", 0),
        ("1000m", "1e0", 0),
        ("-1", "1n", -1),
    ],
)
def test_the_order_is_that_of_the_exact_values(left: str, right: str, order: int) -> None:
    first, second = parse(left), parse(right)

    assert compare(first, second) == order
    assert compare(second, first) == -order


def test_equality_keeps_different_spellings_apart() -> None:
    whole, milli = parse("1"), parse("1000m")

    assert whole != milli
    assert {whole, parse("1")} == {whole}


def test_the_sum_keeps_the_format_of_the_first_unless_that_is_zero() -> None:
    memory, plain = parse("1Gi"), parse("1M")

    assert memory.add(plain).format is Format.BINARY_SI
    assert ZERO.add(memory).format is Format.BINARY_SI
    assert ZERO.subtract(memory) == parse("-1Gi")
    assert memory.subtract(memory).format is Format.BINARY_SI


@pytest.mark.parametrize(
    ("left", "right", "integer"),
    [
        ("1k", "1", 1001),
        ("1", "500m", None),
        ("500m", "500m", None),
        ("0", "5", 5),
        ("5", "0n", 5),
        ("5", "100Ti", None),
        ("9E", "9E", None),
        ("9E", "0.1", None),
        ("1Gi", "1e1000", None),
    ],
)
def test_a_sum_is_an_integer_while_kubernetes_can_keep_it_one(
    left: str, right: str, integer: int | None
) -> None:
    total = parse(left).add(parse(right))

    assert total.as_int64() == integer
    assert total.nano == parse(left).nano + parse(right).nano


def test_a_whole_number_becomes_a_quantity() -> None:
    small, large = of(8), of(2**63)

    assert small == parse("8")
    assert large.as_int64() is None
    assert large.nano == 2**63 * NANO


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ZERO),
        (8, Quantity(nano=8 * NANO)),
        (-3, Quantity(nano=-3 * NANO)),
        (0.5, parse("0.5")),
        ("16Gi", parse("16Gi")),
        (" 94Mi ", parse("94Mi")),
    ],
)
def test_json_values_are_read(value: str | float | None, expected: Quantity) -> None:
    found = from_json(value)

    assert found == expected


@pytest.mark.parametrize("value", [True, "", "1K", float("nan"), float("inf"), 1 << 5000])
def test_json_values_that_are_no_quantity_are_refused(value: str | float) -> None:
    with pytest.raises(MalformedQuantity):
        from_json(value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("null", ZERO),
        ('"16Gi"', parse("16Gi")),
        ('" 16Gi "', parse("16Gi")),
        ("22e3", parse("22e3")),
        ("221.8807", parse("221.8807")),
    ],
)
def test_raw_json_keeps_the_spelling_of_numbers(text: str, expected: Quantity) -> None:
    found = from_json_text(text)

    assert found == expected


@pytest.mark.parametrize("text", ["true", "[1]", "{}", '""', '"', ""])
def test_raw_json_of_another_kind_is_refused(text: str) -> None:
    with pytest.raises(MalformedQuantity):
        from_json_text(text)
