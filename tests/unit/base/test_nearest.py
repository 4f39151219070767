"""The nearest known word."""

import pytest

from springtide.base.nearest import nearest

WORDS = ("table", "wide", "json", "maxSize")


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("tabel", "table"),
        ("JSON", "json"),
        ("maxsize", "maxSize"),
        ("MaxSzie", "maxSize"),
        ("x", None),
    ],
)
def test_the_nearest_word_is_found_in_any_case(word: str, found: str | None) -> None:
    assert nearest(word, WORDS) == found


def test_of_words_that_differ_in_case_only_the_first_counts() -> None:
    assert nearest("SIZE", ("size", "Size")) == "size"
