"""Selectors: bounds on the work of one expression."""

import pytest

from springtide.model.device_facts import DeviceFacts, SelectorFault
from springtide.wire.cel import Selectors

DEVICE = DeviceFacts(driver="a.com", attributes={f"a.com/a{i}": "x" * 64 for i in range(32)})
DOMAIN = 'device.attributes["a.com"]'


def doubled(times: int) -> str:
    """Return an expression that doubles a text so often."""
    expression = f"t{times}.size() > 0"
    for index in range(times, 0, -1):
        expression = f"cel.bind(t{index}, t{index - 1} + t{index - 1}, {expression})"
    return f'cel.bind(t0, "abcdefgh", {expression})'


def nested(depth: int) -> str:
    """Return an expression that goes through ten numbers for each of ten numbers, and so on."""
    numbers = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
    expression = "true"
    for index in range(depth):
        expression = f"{numbers}.all(n{index}, {expression})"
    return expression


def test_an_expression_of_ten_kibibytes_is_the_longest() -> None:
    longest = '"' + "a" * (10 * 1024 - 12) + '" != "a"'

    faults = [Selectors().fault_of(longest + " " * extra) for extra in (3, 4)]

    assert faults == [None, "it is longer than 10240 bytes"]


def test_a_text_may_be_doubled_a_few_times() -> None:
    answer = Selectors().matches(doubled(8), DEVICE)

    assert answer


def test_a_text_that_grows_beyond_all_bounds_is_too_expensive() -> None:
    fault = Selectors().fault_of(doubled(25))

    assert fault == ("it is too expensive: it may build more than 10000000 characters")


def test_replacing_again_and_again_is_too_expensive() -> None:
    expression = '"a"' + '.replace("a", "aa")' * 20 + ".size() > 0"

    fault = Selectors().fault_of(expression)

    assert fault is not None
    assert "too expensive" in fault


def test_loops_within_loops_end() -> None:
    selectors = Selectors()

    answer = selectors.matches(nested(3), DEVICE)
    with pytest.raises(SelectorFault) as caught:
        selectors.matches(nested(5), DEVICE)

    assert answer
    assert str(caught.value) == "it is too expensive: it loops too often"


@pytest.mark.parametrize(
    "expression",
    [
        f'{DOMAIN}.all(n, v, n.startsWith("a") && v.size() == 64)',
        f"{DOMAIN}.exists(n, {DOMAIN}.exists(m, n != m))",
        f'{DOMAIN}.map(n, n + "/" + n).join(",").size() > 0',
        f"{DOMAIN}.filter(n, n.size() > 2).map(n, [n, n]).size() > 0",
        "device.attributes.all(d, device.attributes[d].all(n, device.attributes[d][n].size() > 1))",
    ],
)
def test_looking_at_all_attributes_is_not_too_expensive(expression: str) -> None:
    answer = Selectors().matches(expression, DEVICE)

    assert answer


def test_alternatives_may_be_many() -> None:
    expression = " || ".join(f'device.driver == "{index}.com"' for index in range(200))

    answer = Selectors().matches(expression, DEVICE)

    assert not answer


@pytest.mark.parametrize("expression", ["1" + " + 1" * 60 + " > 0", "(" * 60 + "true" + ")" * 60])
def test_what_is_nested_too_deeply_is_refused(expression: str) -> None:
    fault = Selectors().fault_of(expression)

    assert fault is not None
    assert "recursion" in fault
