"""A replay against what was recorded of the published simulator."""

import msgspec
import pytest

from springtide.apps.bench import parity
from springtide.apps.bench.published import PRINTED, PRINTED_AT
from springtide.apps.bench.report import RunReport
from springtide.wire.trace import TracePlacement
from tests.benches import done, reported

PLACED = [TracePlacement("a", (0, 1)), None, TracePlacement("b")]


def states(cells: tuple[str, ...], recorded: list[TracePlacement | None]) -> list[tuple[str, str]]:
    """What is found for these cells."""
    answer = msgspec.structs.replace(done(reported("gpu-packing")), cells=cells)
    found = parity.placements([answer], {"default": {"gpu_packing": recorded}})
    return [(each.state, each.text) for each in found]


def test_equal_placements_pass() -> None:
    assert states(("a:0-1", "-", "b"), PLACED) == [
        ("passed", "3 of 3 nodes and GPU indices are equal")
    ]


@pytest.mark.parametrize("cells", [("a:0-2", "-", "b"), ("a:0-1", "c", "b"), ("a:0-1", "-", "-")])
def test_one_other_node_or_gpu_fails_and_is_shown(cells: tuple[str, ...]) -> None:
    ((state, text),) = states(cells, PLACED)

    assert state == "failed"
    assert text.startswith("1 of 3 differ, first arrival ")


def test_a_recording_of_another_length_fails() -> None:
    assert states(("a:0-1",), PLACED) == [("failed", "1 pods came, 3 placements are recorded")]


def test_nothing_is_said_where_nothing_is_recorded() -> None:
    answer = done(reported("random"))

    assert list(parity.placements([answer], {"default": {"fgd": PLACED}})) == []


def printed(**changes: float) -> RunReport:
    """The report of FGD as it is printed."""
    expected = PRINTED["default", "fgd"]
    report = reported("fgd")
    alloc_pct = dict(zip(map(str, PRINTED_AT), expected.alloc_pct, strict=True))
    return msgspec.structs.replace(
        report,
        **{
            "alloc_pct": {**report.alloc_pct, **alloc_pct},
            "failed": expected.failed,
            "frag_pct_of_capacity": expected.frag_pct_of_capacity + 0.004,
            **changes,
        },
    )


def test_numbers_as_printed_pass() -> None:
    assert [each.state for each in parity.numbers([printed()])] == ["passed"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"failed": 2533}, "2,533 failed for 2,532"),
        ({"frag_pct_of_capacity": 4.6951}, "fragment 4.6951% for 4.69%"),
        ({"alloc_pct": dict.fromkeys(map(str, PRINTED_AT))}, "None at 90% for 89.98"),
    ],
)
def test_numbers_that_are_not_as_printed_fail(changes: dict[str, float], told: str) -> None:
    (found,) = parity.numbers([printed(**changes)])

    assert found.state == "failed"
    assert told in found.text
