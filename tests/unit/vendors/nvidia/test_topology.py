"""Which cards belong together."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from springtide.vendors.nvidia.topology import chosen
from tests.unit.vendors.nvidia.building import (
    DEVICE_POLICY,
    card,
    container,
    place,
    pod,
    used,
    view,
)

TOPOLOGY = {DEVICE_POLICY: "topology-aware"}


def linked(first: int, second: int, third: int) -> list[dict[str, int]]:
    return [
        {"dev-1": first, "dev-2": second},
        {"dev-0": first, "dev-2": third},
        {"dev-0": second, "dev-1": third},
    ]


@pytest.mark.parametrize(
    ("scores", "count", "expected"),
    [
        pytest.param((100, 200, 150), 1, {"dev-1"}, id="T35 one"),
        pytest.param((100, 200, 150), 2, {"dev-0", "dev-2"}, id="T35 two"),
        pytest.param((-5, -3, -1), 1, {"dev-0"}, id="T36 one"),
        pytest.param((-5, -3, -1), 2, {"dev-1", "dev-2"}, id="T36 two"),
        ((0, 0, 0), 2, {"dev-1", "dev-2"}),
        ((0, 0, 0), 3, {"dev-0", "dev-1", "dev-2"}),
    ],
)
def test_links_decide_which_cards_are_taken(
    scores: tuple[int, int, int], count: int, expected: set[str]
) -> None:
    links = linked(*scores)
    node = view(*(card(f"dev-{index}", index=index, links=links[index]) for index in range(3)))

    answer = place(pod(container(gpu=count, mem=1), annotations=TOPOLOGY), node)

    assert not isinstance(answer, str)
    assert set(answer[0]) == expected


def test_t37_two_idle_cards_without_links_are_both_taken() -> None:
    node = view(card("a"), card("b"))

    assert place(pod(container(gpu=2, mem=1), annotations=TOPOLOGY), node) == [["b", "a"]]


def test_too_few_cards_count_what_would_have_done() -> None:
    node = view(card("a"), card("b", memory_mib=1))

    answer = place(pod(container(gpu=2, mem=10), annotations=TOPOLOGY), node)

    assert answer == "1/2 AllocatedCardsInsufficientRequest, 1/2 CardInsufficientMemory"


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        pytest.param(None, "b", id="T54 even"),
        pytest.param("slot=1,core=1,memory=3", "a", id="T54 memory"),
    ],
)
def test_equal_links_leave_the_choice_to_the_scores(weights: str | None, expected: str) -> None:
    fuller = {"hami.io/device-scoring-weights": weights} if weights else {}
    node = view(
        (card("a", memory_mib=100), used(1, 50, 90)), (card("b", memory_mib=100), used(7, 60, 10))
    )

    answer = place(pod(container(gpu=1, mem=1, cores=1), annotations=TOPOLOGY | fuller), node)

    assert answer == [[expected]]


@given(
    st.integers(2, 6).flatmap(
        lambda size: st.lists(
            st.lists(st.integers(-3, 5), min_size=size, max_size=size),
            min_size=size,
            max_size=size,
        )
    ),
    st.data(),
)
def test_the_search_finds_the_first_best_combination(
    scores: list[list[int]], data: st.DataObject
) -> None:
    count = data.draw(st.integers(2, len(scores)))

    def value(picked: tuple[int, ...]) -> int:
        return sum(scores[a][b] for a, b in combinations(picked, 2))

    # `max` keeps the first of equal ones, and combinations come in lexicographic order.
    expected = max(combinations(range(len(scores)), count), key=value)
    assert chosen(scores, count) == list(expected)
