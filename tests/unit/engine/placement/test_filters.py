"""Lists of ids and types to use or to avoid."""

import pytest

from springtide.engine.placement.filters import names_in, type_matches, type_ok, uuid_ok


@pytest.mark.parametrize(
    ("use", "avoid", "device_id", "ok"),
    [
        (None, None, "abc", True),
        ("abc,123", None, "abc", True),
        ("abc,123", None, "1abc", False),
        (None, "abc,123", "abc", False),
        (None, "abc,123", "1abc", True),
        ("abc,123", "abc", "abc", False),
        (" abc , 123 ", None, "abc", True),
        ("", None, "abc", True),
        ("  ", None, "abc", True),
        (",", None, "abc", False),
    ],
)
def test_an_id_matches_exactly(
    use: str | None, avoid: str | None, device_id: str, *, ok: bool
) -> None:
    assert uuid_ok(device_id, use=names_in(use), avoid=names_in(avoid)) is ok


@pytest.mark.parametrize(
    ("use", "avoid", "model", "ok"),
    [
        (None, None, "NVIDIA-A100", True),
        ("V100,", None, "NVIDIA-A100", False),
        (None, ",V100", "NVIDIA-A100", True),
        ("a100", None, "NVIDIA-A100", True),
        ("A10", None, "NVIDIA-A100", True),
        ("A10", "A100", "NVIDIA-A100", False),
        ("A10", "A100", "NVIDIA-A10", True),
        (",", None, "NVIDIA-A100", False),
    ],
)
def test_a_type_matches_in_part_and_in_any_case(
    use: str | None, avoid: str | None, model: str, *, ok: bool
) -> None:
    assert type_ok(model, use=names_in(use), avoid=names_in(avoid)) is ok


def test_candidates_carry_the_familys_word_in_their_type() -> None:
    assert type_matches("NVIDIA", "nvidia-a10")
    assert not type_matches("NVIDIA", "Tesla T4")
