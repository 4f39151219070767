"""New nodes spread over similar groups, beside the published cases (`test_balancing_rows`)."""

from springtide.engine.capacity.balancing import Room, balance


def rooms(*sizes: tuple[int, int]) -> list[Room]:
    return [
        Room(name=f"ng{index}", size=size, max_size=maximum)
        for index, (size, maximum) in enumerate(sizes, start=1)
    ]


def after(given: list[Room], count: int) -> list[int]:
    grown = dict(balance(given, count))
    return [room.size + grown.get(room.name, 0) for room in given]


def test_after_one_is_full_the_first_of_equals_takes_its_turn() -> None:
    given = rooms((1, 9), (1, 9), (1, 1 + 1), (1, 9))

    assert after(given, 8) == [3, 4, 2, 3]
