"""Selectors: what stands for a device, and what is remembered of it."""

import subprocess
import sys

import pytest

from springtide.base.quantity import parse
from springtide.model.device_facts import DeviceFacts, SelectorFault, Version
from springtide.wire.cel import Selectors

PLAIN = DeviceFacts(driver="a.com")


def device(**attributes: bool | int | str | Version) -> DeviceFacts:
    return DeviceFacts(
        driver="a.com", attributes={f"a.com/{name}": value for name, value in attributes.items()}
    )


def test_the_answer_is_that_of_the_device_asked_about() -> None:
    selectors = Selectors()
    expression = 'device.attributes["a.com"].index == 1'

    answers = [selectors.matches(expression, device(index=index)) for index in (1, 2, 1)]

    assert answers == [True, False, True]


def test_several_expressions_may_be_asked_of_one_device() -> None:
    selectors, asked = Selectors(), device(index=1)

    answers = [
        selectors.matches(f'device.attributes["a.com"].index == {index}', asked)
        for index in (1, 2, 1)
    ]

    assert answers == [True, False, True]


def test_a_device_without_attributes_has_empty_domains() -> None:
    expression = 'device.attributes["a.com"].size() == 0 && device.capacity["a.com"].size() == 0'

    answer = Selectors().matches(expression, PLAIN)

    assert answer


def test_a_device_that_one_claim_takes_does_not_allow_more() -> None:
    answer = Selectors().matches("device.allowMultipleAllocations", PLAIN)

    assert not answer


def test_attributes_of_the_same_name_in_two_domains_are_told_apart() -> None:
    asked = DeviceFacts(driver="a.com", attributes={"a.com/id": "x", "b.com/id": "y"})
    expression = 'device.attributes["a.com"].id == "x" && device.attributes["b.com"].id == "y"'

    answer = Selectors().matches(expression, asked)

    assert answer


def test_a_capacity_is_compared_by_its_value() -> None:
    asked = DeviceFacts(driver="a.com", capacity={"a.com/memory": parse("40960Mi")})
    expression = 'device.capacity["a.com"].memory == quantity("40Gi")'

    answer = Selectors().matches(expression, asked)

    assert answer


def test_whether_a_quantity_is_an_integer_depends_on_how_it_is_written() -> None:
    written = ["1", "1000m", "1.5", "10e18", "-3"]

    answers = [Selectors().matches(f'quantity("{text}").isInteger()', PLAIN) for text in written]

    assert answers == [True, False, False, False, True]


def test_a_version_attribute_that_is_no_version_is_a_fault_that_names_it() -> None:
    with pytest.raises(SelectorFault) as caught:
        Selectors().matches("true", device(firmware=Version("1.0")))

    assert str(caught.value) == ("attribute a.com/firmware: no major.minor.patch elements found")


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_a_text_that_cannot_be_handed_over_whole_is_a_fault_that_names_it(text: str) -> None:
    with pytest.raises(SelectorFault, match=r"attribute a\.com/model: "):
        Selectors().matches("true", device(model=text))


@pytest.mark.parametrize("expression", ['"\ud800" == "a"', "", " ", "\0"])
def test_what_is_no_expression_at_all_is_refused(expression: str) -> None:
    fault = Selectors().fault_of(expression)

    assert fault is not None


def test_a_fault_of_one_device_does_not_touch_the_next() -> None:
    selectors = Selectors()
    expression = 'device.attributes["a.com"].index == 1'
    with pytest.raises(SelectorFault):
        selectors.matches(expression, PLAIN)

    answer = selectors.matches(expression, device(index=1))

    assert answer


def test_the_library_is_not_loaded_before_the_first_expression() -> None:
    script = (
        "import sys; from springtide.wire.cel import Selectors; Selectors();"
        "print('cel_expr_python' in sys.modules)"
    )

    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)

    assert printed.stdout.decode().strip() == "False"


def test_a_pattern_that_cannot_be_read_leaves_no_trace_on_the_error_output() -> None:
    script = (
        "from springtide.wire.cel import Selectors;"
        "print(Selectors().fault_of('device.driver.matches(\"(\")'))"
    )

    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)

    assert "invalid matches argument" in printed.stdout.decode()
    assert printed.stderr == b""
