"""The page of requirements, made from tests that claim them."""

from pathlib import Path

import pytest

from tools.requirements import NOT_YET, STALE, claims, faults, page, rows, runs, told

TEST = '''
ROWS = {"P-3": 1, "A-6 up": 2}
LABEL = "M-1"


def test_w_8_somebody_loses() -> None:
    """Covers R-55 in part, R-7."""


def test_another() -> None:
    """Covers R-55 in part. It says more."""


def helper() -> None:
    """Covers R-1."""
'''

REAL = '''
CASES = [param(1, id="W-8 somebody")]


async def test_k_1_nobody_goes() -> None:
    """What is there stays. Covers R-36, F-1 to F-3."""
'''

WRONG = '''
ROWS = {"P-99": 1}


def test_x() -> None:
    """Covers R-99."""
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a tree with one file of tests."""
    folder = tmp_path / "tests/unit/engine/replicas"
    folder.mkdir(parents=True)
    (folder / "test_a.py").write_text(TEST, "utf-8")
    (tmp_path / "docs").mkdir()
    return tmp_path


def test_tests_claim_requirements_whole_or_in_part(root: Path) -> None:
    found = claims(root)

    assert found == {
        55: {"test_w_8_somebody_loses": False, "test_another": False},
        7: {"test_w_8_somebody_loses": True},
    }
    assert told(found, 7) == "`test_w_8_somebody_loses`"
    assert told(found, 55) == "in part: `test_another`, `test_w_8_somebody_loses`"
    assert told(found, 1) == NOT_YET


def test_rows_are_keys_of_tables_and_beginnings_of_names(root: Path) -> None:
    assert rows(root) == {"P-3": False, "A-6": False, "W-8": False}


def test_any_folder_counts_and_real_processes_are_told_apart(root: Path) -> None:
    (root / "tests/e2e").mkdir()
    (root / "tests/e2e/test_b.py").write_text(REAL, "utf-8")

    found = rows(root)

    assert {row for row, is_real in found.items() if is_real} == {"K-1", "F-1", "F-2", "F-3", "W-8"}
    assert found["P-3"] is False
    assert claims(root)[36] == {"test_k_1_nobody_goes": True}
    assert "| W | rounds | 8 | 8 | 1–7, 9–13 |" in page(root)


def test_examples_of_the_tools_are_no_claims(root: Path) -> None:
    (root / "tests/unit/tools").mkdir()
    (root / "tests/unit/tools/test_c.py").write_text(WRONG, "utf-8")

    assert 99 not in claims(root)


def test_a_page_that_is_made_is_not_stale(root: Path) -> None:
    before = list(faults(root))
    (root / "docs/replicas-requirements.md").write_text(page(root), "utf-8")

    assert before == [STALE]
    assert list(faults(root)) == []


def test_what_nobody_asks_for_is_found(root: Path) -> None:
    (root / "tests/unit/engine/replicas/test_b.py").write_text(WRONG, "utf-8")

    assert list(faults(root))[:2] == [
        "A test covers R-99, which nobody asks for: correct its number.",
        "A test is named after P-99, which no table has: correct its number.",
    ]


def test_numbers_that_follow_each_other_are_a_run() -> None:
    assert runs([1, 2, 3, 5, 7, 8]) == "1–3, 5, 7–8"
    assert runs([]) == ""
