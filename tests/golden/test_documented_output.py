"""Every answer that a document shows is the answer that the program gives.

A block of a document that starts with `$ springtide plan examples/...`, `$ springtide headroom
examples/...`, `$ springtide replay examples/...`, `$ springtide profile ... examples/...` or `$ springtide why ... -f examples/...` is run from the root of the
repository, and what it prints must be the rest of the block.
"""

import contextlib
import re
import shlex
from pathlib import Path

import pytest

from springtide.cli.main import run
from tests.golden.expected import ROOT, is_regenerating, without_timings

DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "examples").rglob("README.md")),
]
BLOCK = re.compile(
    r"^```\w*\n\$ (?P<command>springtide (?:plan|headroom|replay|profile \w+|why [^\n]*-f) examples/[^\n]*)\n"
    r"(?P<shown>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)

SHOWING = [path for path in DOCUMENTS if path.exists() and BLOCK.search(path.read_text("utf-8"))]


@pytest.mark.parametrize("path", SHOWING, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_shows_what_the_program_prints(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = path.read_text(encoding="utf-8")

    def printed(block: re.Match[str]) -> str:
        with contextlib.chdir(ROOT):
            run(shlex.split(block["command"])[1:])
        answer = capsys.readouterr().out
        if without_timings(answer) == without_timings(block["shown"]):
            return block[0]
        start = block.start("shown") - block.start()
        return f"{block[0][:start]}{answer}```"

    expected = BLOCK.sub(printed, text)

    if is_regenerating():
        path.write_text(expected, encoding="utf-8")
    assert text == expected or is_regenerating()
