"""Golden files: bytes that we owe to others, compared or, on request, written anew.

`make golden` sets SPRINGTIDE_REGENERATE and runs the tests that come here; the difference is then
read like any other change before it is committed.
"""

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TIMING = re.compile(r"\bin [0-9]+\.[0-9]+ s\b")


def assert_golden(path: Path, actual: str) -> None:
    """Fails unless the file holds this text; writes it there if golden files are being made."""
    if is_regenerating():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(actual, encoding="utf-8")

    assert path.exists(), f"{path.relative_to(ROOT)} is missing: run `make golden`."
    assert actual == path.read_text(encoding="utf-8")


def without_timings(text: str) -> str:
    """The text with every duration replaced, because no two runs take the same time."""
    return TIMING.sub("in 0.00 s", text)


def is_regenerating() -> bool:
    """Whether golden files are to be written instead of compared."""
    return bool(os.environ.get("SPRINGTIDE_REGENERATE"))
