"""What every command says of itself in a terminal of 80 columns, byte for byte."""

from pathlib import Path

import click
import pytest

from springtide.cli.main import springtide
from tests.golden.expected import assert_golden
from tools.command_pages import leaves

GOLDEN = Path(__file__).resolve().parent / "help"


@pytest.mark.parametrize("name", sorted({*springtide.commands, *leaves()}))
def test_every_command_prints_its_recorded_help(name: str) -> None:
    command: click.Command = springtide
    context = root()
    for word in name.split():
        assert isinstance(command, click.Group)
        command = command.commands[word]
        context = click.Context(command, info_name=word, parent=context)

    with context:
        help_text = command.get_help(context)

    assert_golden(GOLDEN / f"{name.replace(' ', '-')}.txt", f"{help_text}\n")


def test_the_program_prints_its_recorded_help() -> None:
    with root() as outer:
        help_text = springtide.get_help(outer)

    assert_golden(GOLDEN / "springtide.txt", f"{help_text}\n")


def root() -> click.Context:
    """The program in a terminal of 80 columns, two of which click leaves free."""
    return click.Context(
        springtide, info_name="springtide", terminal_width=78, **springtide.context_settings
    )
