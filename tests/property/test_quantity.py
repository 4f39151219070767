"""Laws of quantities, against plain fractions."""

from fractions import Fraction

from hypothesis import event, given
from hypothesis import strategies as st

from springtide.base.quantity import (
    INT64_MAX,
    INT64_MIN,
    NANO,
    Format,
    MalformedQuantity,
    Quantity,
    compare,
    from_json_text,
    parse,
)

FACTORS = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(1000),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "e3": Fraction(1000),
    "E-2": Fraction(1, 100),
}
# Up to 10^17 units, so that neither the cap of binary quantities nor the end of the suffixes is met.
NUMBERS = st.from_regex(r"[+-]?[0-9]{1,5}(\.[0-9]{0,12})?", fullmatch=True)
TEXTS = st.builds(str.__add__, NUMBERS, st.sampled_from(sorted(FACTORS)))
ALPHABET = st.text("0123456789.+-eEinumkKMGTP", max_size=12)


def exact(text: str) -> Fraction:
    suffix = max((name for name in FACTORS if text.endswith(name)), key=len)
    return Fraction(text.removesuffix(suffix).removesuffix(".")) * FACTORS[suffix]


def rounded_away(number: Fraction) -> int:
    magnitude = -(-abs(number.numerator) // number.denominator)
    return magnitude if number > 0 else -magnitude


@given(TEXTS)
def test_parsing_is_exact_to_the_nano_and_rounds_away_from_zero(text: str) -> None:
    found = parse(text)

    assert found.nano == rounded_away(exact(text) * NANO)


@given(TEXTS)
def test_the_canonical_form_reads_back_to_the_same_value(text: str) -> None:
    found = parse(text)

    again = parse(found.canonical())

    assert again.nano == found.nano
    assert again.canonical() == found.canonical()


@given(TEXTS, TEXTS)
def test_the_order_is_that_of_fractions(left: str, right: str) -> None:
    first, second = parse(left), parse(right)

    order = compare(first, second)

    difference = Fraction(first.nano, NANO) - Fraction(second.nano, NANO)
    assert order == (difference > 0) - (difference < 0)


@given(TEXTS)
def test_value_and_milli_are_the_exact_value_rounded_away_from_zero(text: str) -> None:
    found = parse(text)

    number = Fraction(found.nano, NANO)
    assert found.value() == rounded_away(number)
    assert found.milli() == max(INT64_MIN, min(INT64_MAX, rounded_away(number * 1000)))


@given(TEXTS)
def test_an_integer_is_the_value_itself(text: str) -> None:
    found = parse(text)

    integer = found.as_int64()

    assert integer is None or integer * NANO == found.nano


@given(TEXTS, TEXTS)
def test_adding_and_subtracting_undo_each_other(left: str, right: str) -> None:
    first, second = parse(left), parse(right)

    restored = first.add(second).subtract(second)

    assert restored.nano == first.nano


@given(st.lists(TEXTS, max_size=6))
def test_the_scale_of_sums_stays_whole(texts: list[str]) -> None:
    total = Quantity(nano=0, format=Format.DECIMAL_SI)

    for text in texts:
        total = total.add(parse(text))

    assert total.scale is None or total.nano % 10 ** (total.scale + 9) == 0


@given(st.one_of(st.text(), ALPHABET))
def test_any_text_is_read_or_called_malformed(text: str) -> None:
    for read in (parse, from_json_text):
        try:
            found = read(text)
        except MalformedQuantity:
            event("malformed")
        else:
            assert found.canonical()
