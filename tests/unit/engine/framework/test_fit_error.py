"""The sentence by the table of messages."""

import pytest

from springtide.engine.framework.fit_error import fit_error
from springtide.model.refusal import Refusal

TAINTED = "node(s) had untolerated taint(s)"

Told = list[tuple[Refusal, int]]


def told(*reasons: str, nodes: int = 1) -> tuple[Refusal, int]:
    return Refusal(rule="any", reasons=reasons), nodes


@pytest.mark.parametrize(
    ("total", "refusals", "text"),
    [
        pytest.param(
            3,
            [
                told("Insufficient cpu"),
                told("Insufficient cpu", "Insufficient memory"),
                told("node(s) were unschedulable"),
            ],
            "0/3 nodes are available: 1 Insufficient memory, 1 node(s) were unschedulable, "
            "2 Insufficient cpu.",
            id="M1",
        ),
        pytest.param(
            12,
            [told(TAINTED, nodes=2), told("Insufficient cpu", nodes=10)],
            f"0/12 nodes are available: 10 Insufficient cpu, 2 {TAINTED}.",
            id="M2",
        ),
        pytest.param(
            4,
            [told("CardInsufficientMemory", nodes=3), told("NodeUnfitPod")],
            "0/4 nodes are available: 1 NodeUnfitPod, 3 CardInsufficientMemory.",
            id="M5",
        ),
        pytest.param(3, [told(nodes=3)], "0/3 nodes are available:", id="M6"),
    ],
)
def test_reasons_are_counted_and_sorted_as_text(total: int, refusals: Told, text: str) -> None:
    assert fit_error(total, refusals) == text


def test_what_comes_after_the_filters_is_told_last() -> None:
    refusals = [
        told("Insufficient memory"),
        told("node(s) didn't satisfy plugin(s) [NodeAffinity]", nodes=4),
    ]

    text = fit_error(5, refusals, postfilter_message="no new claims to deallocate")  # M3

    assert text == (
        "0/5 nodes are available: 1 Insufficient memory, "
        "4 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to deallocate"
    )


def test_a_rejection_before_the_filters_stands_for_all_nodes() -> None:
    message = "pod has unbound immediate PersistentVolumeClaims"

    text = fit_error(2, [told(message, nodes=2)], message, postfilter_message="not found")  # M4

    assert text == f"0/2 nodes are available: {message}. not found"
