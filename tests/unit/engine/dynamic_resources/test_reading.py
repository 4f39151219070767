"""Which attributes an expression can read."""

import pytest

from springtide.engine.dynamic_resources.reading import words_read

ATTRIBUTES = 'device.attributes["gpu.example.com"]'


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("true", set()),
        ('device.driver == "gpu.example.com"', set()),
        (f'{ATTRIBUTES}.model == "a100"', {"model"}),
        (f'{ATTRIBUTES}["model"] in ["a100", "h100"]', {"model"}),
        (f"{ATTRIBUTES}.?numa.orValue(0) == 0 && {ATTRIBUTES}.index != 3", {"numa", "index"}),
        (
            f'has({ATTRIBUTES}.version) && {ATTRIBUTES}.version.compareTo(semver("2.0.0")) >= 0',
            {"version"},
        ),
        ('"serial" in device.attributes["other.example.com"]', {"serial"}),
        ("device.attributes['d'].model.startsWith('h')", {"model"}),
        ('device.capacity["d"].memory.isGreaterThan(quantity("16Gi"))', {"memory"}),
        (
            f"!({ATTRIBUTES}.index < 2) || device.allowMultipleAllocations ? true : -1 < 0",
            {"index"},
        ),
    ],
)
def test_an_expression_that_reads_by_name_says_so(expression: str, names: set[str]) -> None:
    words = words_read(expression)

    assert words is not None
    assert names <= words
    assert "uuid" not in words


@pytest.mark.parametrize(
    "expression",
    [
        f"{ATTRIBUTES}.exists(key, key == 'a')",
        f"size({ATTRIBUTES}) > 2",
        f'{ATTRIBUTES}["u" + "uid"] == "x"',
        f'{ATTRIBUTES}["mo\\u0064el"] == "x"',
        f"{ATTRIBUTES}[device.driver] == 'x'",
        f"{ATTRIBUTES} == device.attributes['other']",
        '"gpu.example.com" in device.attributes',
        "device == device",
        "device.attributes.size() > 0",
        f"cel.bind(all, {ATTRIBUTES}, all.model == 'a')",
        f"r{ATTRIBUTES!r} == 'a'",
        f"{ATTRIBUTES}.model.lowerAscii() == 'a'",
        f"{ATTRIBUTES}.model == 'a' // of {{course}}",
        f"[{ATTRIBUTES}] == [{ATTRIBUTES}]",
    ],
)
def test_an_expression_that_may_read_otherwise_may_read_everything(expression: str) -> None:
    assert words_read(expression) is None
