"""What names and sizes values may have."""

import pytest

from springtide.model.replicas.values import (
    PATH_BYTES_MAX,
    VALUE_BYTES_MAX,
    VALUES_MAX,
    Folder,
    ValueKey,
    crowded,
    misnamed,
    oversized,
    within,
)

ROOMS = Folder(name="rooms")


@pytest.mark.parametrize(
    "key",
    [
        ValueKey(ROOMS),
        ValueKey(ROOMS, "eu"),
        ValueKey(ROOMS, "eu/west/1"),
        ValueKey(ROOMS, "x" * (PATH_BYTES_MAX - len("customrooms"))),
        ValueKey(Folder(name="Räume 2", domain="arena", has_target=False), "ä.b"),
    ],
)
def test_a_name_may_be_anything_that_makes_a_path(key: ValueKey) -> None:
    assert misnamed(key) == ""


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (ValueKey(Folder(name="")), "is no name"),
        (ValueKey(Folder(name=".index")), "is no name"),
        (ValueKey(Folder(name="a", domain="b/c")), "is no domain"),
        (ValueKey(ROOMS, "/eu"), "is no subkey"),
        (ValueKey(ROOMS, "eu/"), "is no subkey"),
        (ValueKey(ROOMS, "eu//west"), "is no subkey"),
        (ValueKey(ROOMS, "../status"), "is no subkey"),
        (ValueKey(ROOMS, "ä" * 40), "shorten them to 80"),
    ],
)
def test_a_name_that_makes_no_path_is_told_with_the_remedy(key: ValueKey, words: str) -> None:
    assert words in misnamed(key)


def test_a_text_is_as_long_as_its_bytes() -> None:
    key = ValueKey(ROOMS, "eu")

    assert oversized(key, "x" * VALUE_BYTES_MAX) == ""
    assert "rooms/eu" in oversized(key, "ä" * VALUE_BYTES_MAX)
    assert "delete one" in crowded(key)


def test_what_others_wrote_beyond_the_bounds_is_left_out() -> None:
    many = {f"{number:04}": "1" for number in range(VALUES_MAX + 5)}

    kept = within({**many, "0000": "x" * (VALUE_BYTES_MAX + 1), "0001": ""})

    assert list(kept) == [f"{number:04}" for number in range(2, VALUES_MAX + 2)]
