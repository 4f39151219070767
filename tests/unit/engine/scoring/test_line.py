"""The line through points from utilization to score."""

import numpy as np
import pytest

from springtide.engine.scoring.line import Line, rounded
from springtide.model.plugin_arguments import ShapePoint

SHAPE = (ShapePoint(10, 3), ShapePoint(20, 7), ShapePoint(50, 2))


@pytest.mark.parametrize(
    ("used", "there", "expected"),
    [
        pytest.param(0, 100, 30, id="before the first point"),
        pytest.param(13, 100, 42, id="rising"),
        pytest.param(22, 100, 67, id="falling, towards the score before"),
        pytest.param(80, 100, 20, id="after the last point"),
        pytest.param(300, 100, 20, id="overcommitted"),
        pytest.param(0, 0, 20, id="nothing is there"),
    ],
)
def test_a_score_is_read_off_the_line(used: int, there: int, expected: int) -> None:
    found = Line(SHAPE).at(np.array([used]), np.array([there]))

    assert found.tolist() == [expected]


def test_halves_are_rounded_up() -> None:
    values = np.array([0.0, 0.49999999999999994, 0.5, 1.5, 2.4])

    assert rounded(values).tolist() == [0, 0, 1, 2, 2]
