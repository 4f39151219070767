"""Patterns: which are surely wrong, and how groups lose their captures."""

import re

import pytest

from springtide.wire.cel import patterns
from springtide.wire.cel.selectors import Selectors


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "a{2,1}", "*", "a(?=b)", "(?<!a)b", r"(a)\1", "(?>a)"]
)
def test_a_pattern_that_re2_cannot_read_is_found(pattern: str) -> None:
    fault = patterns.fault(pattern)

    assert fault is not None


@pytest.mark.parametrize(
    "pattern",
    ["^[ah]1", "(?i)A", "a(?i)b", r"\pL+", r"\z", "[[:alpha:]]+", "(?P<n>a)", r"\\1", r"\Q(\E", ""],
)
def test_a_pattern_of_re2_is_allowed(pattern: str) -> None:
    fault = patterns.fault(pattern)

    assert fault is None


@pytest.mark.parametrize(
    ("pattern", "plain"),
    [
        ("(a)(b)", "(?:a)(?:b)"),
        ("(?P<name>a)|(?<name>b)", "(?:a)|(?:b)"),
        (r"\((a)", r"\((?:a)"),
        ("[(](a)", "[(](?:a)"),
        ("[^](](a)", "[^](](?:a)"),
        ("(?:a)(?i:b)", "(?:a)(?i:b)"),
        (r"\Q(\E(a)", r"\Q(\E(?:a)"),
    ],
)
def test_groups_lose_their_captures_and_nothing_else(pattern: str, plain: str) -> None:
    found = patterns.without_captures(pattern)

    assert found == plain


def test_a_pattern_that_only_the_library_can_judge_is_judged_by_it() -> None:
    fault = Selectors().fault_of(r"device.driver.matches('\\p{Nonsense}')")

    assert fault is not None
    assert re.search("invalid matches argument: .*Nonsense", fault)
