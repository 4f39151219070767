"""Laws of semantic versions."""

from hypothesis import given
from hypothesis import strategies as st

from springtide.wire.cel.versions import Numbers, compare, parse

NUMBERS = st.integers(0, 2**64 - 1)
NAMES = st.from_regex(r"[0-9A-Za-z-]{0,3}[A-Za-z-][0-9A-Za-z-]{0,3}", fullmatch=True)
VERSIONS = st.builds(
    Numbers,
    st.tuples(NUMBERS, NUMBERS, NUMBERS),
    st.lists(st.one_of(NUMBERS, NAMES), max_size=4).map(tuple),
)
# Few different ones, so that equal beginnings are met.
CLOSE = st.builds(
    Numbers,
    st.tuples(*[st.integers(0, 1)] * 3),
    st.lists(st.sampled_from([0, 1, 10, "a", "b", "0a"]), max_size=3).map(tuple),
)


@given(VERSIONS)
def test_a_version_is_read_as_it_was_written(version: Numbers) -> None:
    again = parse(version.text)

    assert again == version


@given(VERSIONS, NAMES)
def test_a_build_part_changes_nothing(version: Numbers, build: str) -> None:
    built = parse(f"{version.text}+{build}")

    assert compare(built, version) == 0


@given(CLOSE, CLOSE)
def test_turning_a_comparison_round_turns_its_sign(left: Numbers, right: Numbers) -> None:
    order = compare(left, right)

    assert order == -compare(right, left)
    assert (order == 0) == (left == right)


@given(CLOSE, CLOSE, CLOSE)
def test_the_order_is_transitive(first: Numbers, second: Numbers, third: Numbers) -> None:
    orders = compare(first, second), compare(second, third)

    if all(order <= 0 for order in orders):
        assert compare(first, third) == min(orders)


@given(CLOSE)
def test_a_candidate_is_before_its_release(version: Numbers) -> None:
    release = Numbers(version.numbers)

    order = compare(version, release)

    assert order == (-1 if version.pre else 0)
