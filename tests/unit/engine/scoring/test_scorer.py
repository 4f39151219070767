"""How raw scores become scores between 0 and 100."""

import numpy as np
import pytest

from springtide.engine.scoring.scorer import proportional


@pytest.mark.parametrize(
    ("raw", "reverse", "expected"),
    [
        pytest.param([0, 1, 2], True, [100, 50, 0], id="C23"),
        pytest.param([0, 1, 3], True, [100, 67, 0], id="C23 rounded"),
        pytest.param([2, 5, 10], False, [20, 50, 100], id="C24"),
        pytest.param([0, 0], True, [100, 100], id="C24 all alike"),
        pytest.param([0, 0], False, [0, 0], id="nothing for nobody"),
        pytest.param([], False, [], id="no rows"),
    ],
)
def test_the_highest_score_is_the_measure(
    raw: list[int], expected: list[int], *, reverse: bool
) -> None:
    found = proportional(np.array(raw, np.int64), reverse=reverse)

    assert found.normalised.tolist() == expected
    assert found.raw.tolist() == raw
