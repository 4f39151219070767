"""What standard output can show."""

import pytest

from springtide.cli.terminal import Terminal

SENTENCE = "2 → 3 nodes × 8, it’s done"


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("utf-8", SENTENCE), ("ascii", "2 -> 3 nodes x 8, it's done")],
)
def test_signs_that_cannot_be_shown_are_written_plainly(
    encoding: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Terminal(encoding=encoding).write(SENTENCE)

    assert capsys.readouterr().out == f"{shown}\n"


def test_colour_is_printed_only_where_it_may_be(capsys: pytest.CaptureFixture[str]) -> None:
    coloured = "\x1b[32mt4\x1b[0m"

    Terminal(has_colour=True).write(coloured)
    Terminal(has_colour=False).write(coloured)

    assert capsys.readouterr().out == f"{coloured}\nt4\n"
