"""Laws of what selectors compare: bytes have the order of the versions and quantities they stand for."""

from hypothesis import given
from hypothesis import strategies as st

from springtide.base.quantity import NANO, Quantity
from springtide.base.quantity import compare as compare_quantities
from springtide.model.device_facts import DeviceFacts
from springtide.wire.cel import Selectors, encoding
from springtide.wire.cel.values import carried_quantity, compare
from springtide.wire.cel.versions import Numbers, parse

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
    st.lists(st.sampled_from([0, 1, 10, "a", "ab", "b", "0a", "-"]), max_size=3).map(tuple),
)
QUANTITIES = st.builds(
    lambda nano, scale: Quantity(nano=nano, scale=scale),
    st.one_of(st.integers(-3, 3).map(lambda units: units * NANO), st.integers(-(10**40), 10**40)),
    st.sampled_from([None, -3, 0]),
)
SELECTORS = Selectors()
ORDER = (
    'device.capacity["a.com"].left.compareTo(device.capacity["a.com"].right)'
    " == device.capacity.size() + {}"
)


def rank(version: Numbers) -> tuple[object, ...]:
    """Return what semver.org orders versions by: candidates first, among identifiers the numbers."""
    pre = tuple((isinstance(part, str), part) for part in version.pre)
    return (version.numbers, not pre, pre)


@given(VERSIONS)
def test_a_version_is_read_as_it_was_written(version: Numbers) -> None:
    again = parse(version.text)

    assert again == version


@given(VERSIONS, NAMES)
def test_a_build_part_changes_nothing(version: Numbers, build: str) -> None:
    built = parse(f"{version.text}+{build}")

    assert built == version


@given(st.one_of(st.tuples(CLOSE, CLOSE), st.tuples(VERSIONS, VERSIONS)))
def test_the_bytes_of_versions_have_their_order(pair: tuple[Numbers, Numbers]) -> None:
    left, right = map(encoding.of_version, pair)

    assert (left < right) == (rank(pair[0]) < rank(pair[1]))
    assert (left == right) == (pair[0] == pair[1])


@given(st.integers(), st.integers())
def test_the_bytes_of_numbers_have_their_order(left: int, right: int) -> None:
    written = encoding.of_number(left), encoding.of_number(right)

    assert (written[0] < written[1]) == (left < right)
    assert tuple(map(encoding.number, written)) == (left, right)


@given(QUANTITIES, QUANTITIES)
def test_quantities_are_compared_by_value_however_they_are_written(
    left: Quantity, right: Quantity
) -> None:
    device = DeviceFacts(driver="a.com", capacity={"a.com/left": left, "a.com/right": right})
    wanted = compare_quantities(left, right)

    in_python = compare(carried_quantity(left), carried_quantity(right))
    in_library = SELECTORS.matches(ORDER.format(wanted - 1), device)

    assert in_python == wanted
    assert in_library
