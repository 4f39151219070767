"""Which situations from the field have tests, and which have none yet, and why.

A case is a test named after its number (`test_fc_012_...`), or a row of a table with its id (`FC-041`).
"""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
LAST = 77
NAMED = re.compile(r'(?:def test_fc_|"FC-)(\d{3})')

LOOP = "is about a live autoscaler that watches nodes come and go"
NPU = "is about placing and evicting gangs live, by topology and by where they were before"

NOT_YET = {
    **dict.fromkeys((47, 50, 53, 55), LOOP),
    **dict.fromkeys((57, *range(59, 67)), NPU),
}


def covered() -> set[int]:
    """Return the numbers of the cases that tests are named after."""
    texts = (path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    return {int(number) for text in texts for number in NAMED.findall(text)}


def test_every_field_case_has_a_test_or_a_reason_why_not() -> None:
    assert covered() | NOT_YET.keys() == set(range(1, LAST + 1))


def test_no_field_case_is_called_missing_that_has_a_test() -> None:
    assert not covered() & NOT_YET.keys()
