"""Help that calls the program what people typed: as a plugin, examples start with `kubectl` too."""

import re
from typing import Final

import click

PROGRAM: Final = "springtide"


class Formatter(click.HelpFormatter):
    """Writes help for a program that is called something else than its texts say."""

    called = PROGRAM
    commands: tuple[str, ...] = ()

    def write_text(self, text: str) -> None:
        """Write a text, its command lines as people have to type them."""
        named = "|".join(map(re.escape, self.commands))
        example = rf"(?<![\w./-]){PROGRAM}(?= (?:{named})\b)"
        super().write_text(re.sub(example, self.called, text))


class Context(click.Context):
    """The context of every command, which knows what people typed."""

    def make_formatter(self) -> click.HelpFormatter:
        """Return what formats the help of the command."""
        root = self.find_root()
        called = root.info_name or PROGRAM
        if called == PROGRAM or not isinstance(root.command, click.Group):
            return super().make_formatter()
        formatter = Formatter(width=self.terminal_width, max_width=self.max_content_width)
        formatter.called = called
        formatter.commands = tuple(root.command.list_commands(root))
        return formatter
