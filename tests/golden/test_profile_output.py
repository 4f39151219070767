"""What `springtide profile` prints for examples, byte for byte, in every format."""

from pathlib import Path
from typing import Final

import pytest

from springtide.cli.main import run
from tests.golden.expected import ROOT, assert_golden, without_timings

EXAMPLE: Final = str(ROOT / "examples" / "device-profiles")
WARM: Final = str(ROOT / "examples" / "warm-group")
GOLDEN: Final = Path(__file__).resolve().parent / "profile"
SUFFIXES: Final = {
    "table": "table.txt", "wide": "wide.txt", "json": "json", "yaml": "yaml", "name": "name",
}  # fmt: skip

Captured = pytest.CaptureFixture[str]


def portable(text: str) -> str:
    """The text without what differs from run to run and from machine to machine."""
    return without_timings(text).replace(f"{ROOT}/", "")


@pytest.mark.parametrize("output", SUFFIXES)
@pytest.mark.parametrize(("command", "code"), [("check", 1), ("list", 0)])
def test_every_format_prints_its_recorded_answer(
    command: str, code: int, output: str, capsys: Captured
) -> None:
    ended = run(["profile", command, EXAMPLE, "-o", output])

    printed = capsys.readouterr()
    assert_golden(GOLDEN / f"{command}.{SUFFIXES[output]}", portable(printed.out))
    assert printed.err == ""
    assert ended == code


@pytest.mark.parametrize("output", ["yaml", "json"])
def test_profiles_are_captured_in_the_recorded_words(output: str, capsys: Captured) -> None:
    code = run(["profile", "capture", WARM, "-o", output])

    printed = capsys.readouterr()
    assert_golden(GOLDEN / f"capture.{output}", printed.out)
    assert printed.err == ""
    assert code == 0
