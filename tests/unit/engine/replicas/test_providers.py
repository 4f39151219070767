"""Providers, one answer after the other."""

from springtide.engine.replicas.combination import Suggestion
from springtide.engine.replicas.providers import (
    AskProvider,
    Provider,
    ProviderFailed,
    ProviderSaid,
    begin,
    step,
)


def said(name: str, up: object, down: object) -> ProviderSaid:
    """Return the answer of a provider."""
    return ProviderSaid(name=name, up=up, down=down, cause="evaluation 1")


def test_p_11_a_provider_raises_what_is_needed() -> None:
    """Covers R-13 in part."""
    asking, asked = begin((Provider("rooms"),), Suggestion(7, 4))

    asking, _ = step(asking, said("rooms", 12, 4))

    assert asked == (AskProvider("rooms", Suggestion(7, 4)),)
    assert asking.suggestion == Suggestion(12, 4)
    assert asking.is_done


def test_p_11_a_provider_that_fails_lowers_nothing() -> None:
    asking, _ = begin((Provider("rooms"),), Suggestion(7, 4))

    asking, _ = step(asking, ProviderFailed(name="rooms", why="it is down", cause="e"))

    assert asking.suggestion == Suggestion(7, None)
    assert asking.complaints == ("Provider rooms failed, so nothing shrinks: it is down.",)


def test_nonsense_is_ignored_to_grow_and_unknown_to_shrink() -> None:
    asking, _ = begin((Provider("rooms"),), Suggestion(7, 4))

    asking, _ = step(asking, said("rooms", "12", -1))

    assert asking.suggestion == Suggestion(7, None)
    assert len(asking.complaints) == 2


def test_higher_priorities_come_first_and_names_break_ties() -> None:
    providers = (Provider("b"), Provider("a"), Provider("z", 5))

    asking, first = begin(providers, Suggestion(1, 1))
    asking, second = step(asking, said("z", 2, 2))
    asking, third = step(asking, said("a", 3, 3))

    assert [ask.name for ask in (*first, *second, *third)] == ["z", "a", "b"]
    assert third[0].suggestion == Suggestion(3, 3)


def test_an_answer_that_nobody_asked_for_changes_nothing() -> None:
    asking, _ = begin((Provider("a"), Provider("b")), Suggestion(1, 1))

    assert step(asking, said("b", 9, 9)) == (asking, ())


def test_knowing_nothing_is_an_answer() -> None:
    asking, _ = begin((Provider("rooms"),), Suggestion(7, 4))

    asking, _ = step(asking, said("rooms", None, None))

    assert asking.suggestion == Suggestion(None, None)
    assert asking.complaints == ()
