"""Which rows of the device scheduler's own test tables have tests, and which have none yet, and why.

A row is a test named after its number (`test_t105_...`), or a row of a table with its id (`T15`).
"""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOMS = (
    "unit/vendors",
    "unit/wire/hami",
    "unit/engine/live",
    "unit/engine/placement",
    "unit/apps",
)
LAST = 132
NAMED = re.compile(r"def test_((?:t\d+_)+)|id=\"T(\d+)")

METAX = "is about Metax GPUs, which are no family yet"
KUNLUN = "is about Kunlunxin XPUs, which are no family yet"
NEURON = "is about AWS Neuron devices, which are no family yet"
OTHERS = (
    "is about a family that is not built yet: AMD, Vastai, Enflame, MLU, DCU, Mthreads, Iluvatar"
)

NOT_YET = {
    **dict.fromkeys((57, 58, 122), METAX),
    **dict.fromkeys((59, 111, 112, 113, 114), KUNLUN),
    **dict.fromkeys((115, 116, 117), NEURON),
    **dict.fromkeys((118, 119, 120, 121, 123, 124, 125), OTHERS),
}

QUOTAS = frozenset((40, 65, 66, 67, 68, 77, 78, *range(96, 102), 127))
"""Rows about quotas of namespaces, whose tests have their own list."""


def covered() -> set[int]:
    """Return the numbers of the rows that tests are named after."""
    paths = (path for room in ROOMS for path in (TESTS / room).rglob("test_*.py"))
    found = (hit for path in paths for hit in NAMED.findall(path.read_text(encoding="utf-8")))
    return {int(number) for hit in found for number in re.findall(r"\d+", "".join(hit))}


def test_every_row_has_a_test_or_a_reason_why_not() -> None:
    assert covered() | NOT_YET.keys() | QUOTAS == set(range(1, LAST + 1))


def test_no_row_is_called_missing_that_has_a_test() -> None:
    assert not covered() & NOT_YET.keys()
