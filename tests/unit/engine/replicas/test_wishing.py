"""What is wanted, from the samples of members: what is old, odd or incomplete is unknown and never a zero."""

from collections.abc import Mapping

import pytest

from springtide.engine.metrics import Sample, Table
from springtide.engine.replicas.executing import Wish
from springtide.engine.replicas.wishing import Heard, wish

NOW_S = 1000.0


def table(
    values: Mapping[str, str], *, age_s: float = 5, names: int = 1, is_partial: bool = False
) -> Table:
    """Return the samples of members."""
    samples = [
        Sample(labels={"instance": member}, text=text, unix_s=NOW_S - age_s)
        for member, text in values.items()
    ]
    return Table(
        samples={("chat",): samples},
        names=tuple(f"name_{each}" for each in range(names)),
        unix_s=NOW_S,
        seen_s=0,
        is_partial=is_partial,
    )


def wished(
    expected: Table | None = None, index: Table | None = None, generation: Table | None = None
) -> Wish:
    """Return what is wanted where all else is well."""
    return wish(
        Heard(
            expected=expected or table({"a": "3"}),
            index=index or table({"a": "1", "b": "2", "c": "0"}),
            generation=generation or table({"a": "8"}),
            age_s_max=60,
        )
    )


def test_the_largest_count_and_members_that_said_zero_have_spoken() -> None:
    found = wished(table({"leader": "2.2", "before": "1"}), generation=table({"a": "7", "b": "8"}))

    assert found == Wish(generation=8, expect=3, floor=2, ready=frozenset({1, 2}), spoken=3, why="")


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (table({}), "no sample"),
        (table({"a": "3"}, age_s=61), "no sample"),
        (table({"a": "NaN", "b": "-1", "c": "+Inf", "d": "x", "e": "1e300"}), "no sample"),
        (table({"a": "3"}, names=2), "several names"),
        (table({"a": "3"}, is_partial=True), "incomplete"),
    ],
)
def test_what_does_not_count_is_unknown_and_says_why(bad: Table, words: str) -> None:
    """Covers R-12 in part, R-46 in part."""
    expect, index, generation = wished(expected=bad), wished(index=bad), wished(generation=bad)

    assert (expect.expect, expect.floor) == (None, 2)
    assert (index.floor, index.ready, index.spoken, index.expect) == (None, None, None, 3)
    assert (generation.generation, generation.expect) == (None, 3)
    assert all(words in each.why for each in (expect, index, generation))


def test_no_number_of_members_is_zero() -> None:
    found = wished(table({"a": "0"}), table({"a": "0"}))

    assert found.expect is None
    assert "no number of members" in found.why
    assert found.floor == 0
