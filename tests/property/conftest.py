"""Generated tests have longer than others: hundreds of examples on a machine that is busy with more."""

from pathlib import Path
from typing import Final

import pytest

HERE: Final = Path(__file__).parent
LIMIT_S: Final = 300


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test of this folder its time; a limit of its own comes first."""
    for each in items:
        if HERE in each.path.parents and each.get_closest_marker("timeout") is None:
            each.add_marker(pytest.mark.timeout(LIMIT_S))
