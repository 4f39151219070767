"""The largest amount that fits, and how few questions that takes."""

from hypothesis import given
from hypothesis import strategies as st

from springtide.engine.explain.bisection import largest


class Limit:
    """Fits up to a limit, and counts the questions."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.asked: list[int] = []

    def fits(self, amount: int) -> bool:
        """Whether the amount is within the limit."""
        self.asked.append(amount)
        return amount <= self.most


@given(st.integers(0, 200), st.integers(1, 100), st.lists(st.integers(-5, 150)))
def test_the_answer_is_exact_whatever_the_hints_are(
    most: int, asked: int, hints: list[int]
) -> None:
    limit = Limit(min(most, asked - 1))

    found = largest(1, asked, limit.fits, hints=hints)

    assert found == (limit.most if limit.most >= 1 and asked > 1 else None)


def test_a_hint_that_is_right_takes_three_questions() -> None:
    limit = Limit(14_576)

    found = largest(1, 80_000, limit.fits, hints=[14_576])

    assert found == 14_576
    assert limit.asked == [1, 14_576, 14_577]


def test_without_hints_the_questions_grow_with_the_digits() -> None:
    limit = Limit(12_345)

    largest(1, 80_000, limit.fits)

    assert len(limit.asked) <= 20


def test_nothing_is_found_where_even_the_least_does_not_fit() -> None:
    limit = Limit(0)

    found = largest(1, 100, limit.fits)

    assert found is None
    assert limit.asked == [1]


def test_whoever_asks_for_the_least_already_can_ask_for_no_less() -> None:
    limit = Limit(5)

    found = largest(1, 1, limit.fits)

    assert found is None
    assert limit.asked == []
