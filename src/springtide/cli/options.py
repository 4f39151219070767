"""Command line words that offer the nearest one when mistyped."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from springtide.base.nearest import nearest
from springtide.base.quantity import MalformedQuantity, parse
from springtide.cli.context import Context

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

STDIN: Final = "-"


class NearestGroup(click.Group):
    """Commands by name; for an unknown one the nearest is named."""

    context_class: type[click.Context] = Context

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Take a command, whose help calls the program what people typed."""
        cmd.context_class = Context
        super().add_command(cmd, name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names, or end with a usage error."""
        is_unknown = bool(args) and self.get_command(ctx, args[0]) is None
        # A command line that is being completed may hold anything.
        if is_unknown and not args[0].startswith("-") and not ctx.resilient_parsing:
            known = self.list_commands(ctx)
            ctx.fail(f"There is no command {args[0]!r}.{offer(args[0], known)}")
        return super().resolve_command(ctx, args)


class NearestChoice(click.Choice[str]):
    """One word of a few; for an unknown one the nearest is named."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the word, or end with a usage error."""
        if value not in self.choices:
            self.fail(_unknown(str(value), self.choices), param, ctx)
        return str(value)


class Chain(click.ParamType[tuple[str, ...]]):
    """Some of a few words, separated by commas, in an order that counts."""

    name = "chain"

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what stands for the value in help texts."""
        return "NAME[,NAME]..."

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[str, ...]:
        """Return the words, or end with a usage error."""
        if isinstance(value, tuple):
            return value
        words = tuple(word.strip() for word in str(value).split(","))
        for word in words:
            if word not in self.words:
                self.fail(_unknown(word, self.words), param, ctx)
        return words

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Return the chain so far, going on with each word that it lacks."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - seldom needed

        before, comma, begun = incomplete.rpartition(",")
        given = before.split(",")
        return [
            CompletionItem(f"{before}{comma}{word}")
            for word in self.words
            if word.startswith(begun) and word not in given
        ]


class Limit(click.ParamType[tuple[str, int]]):
    """The most there may be of something that has a name: NAME:NUMBER, a quantity for a resource."""

    name = "limit"

    def __init__(self, metavar: str, example: str) -> None:
        self._metavar = metavar
        self._example = example

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what stands for the value in help texts."""
        return self._metavar

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[str, int]:
        """Return the name and the number, or end with a usage error."""
        if isinstance(value, tuple):
            return value
        # Types of devices are names with spaces; the number is what stands behind the last colon.
        named, _, amount = str(value).rpartition(":")
        try:
            limit = parse(amount.strip()).value()
        except MalformedQuantity:
            limit = -1
        if not named.strip() or limit < 0:
            shape = f"Write {self._metavar}, as in {self._example}."
            self.fail(f"{value!r} is no limit. {shape}", param, ctx)
        return named.strip(), limit


def offer(word: str, known: Sequence[str]) -> str:
    """Return a question that offers the nearest known word, with a space before, or nothing."""
    close = nearest(word, known)
    return "" if close is None else f" Did you mean {close}?"


def _unknown(word: str, known: Sequence[str]) -> str:
    return f"{word!r} is none of {', '.join(known)}.{offer(word, known)}"


def sources(
    ctx: click.Context, named: tuple[str, ...], *, how: str = "name a file or folder"
) -> tuple[str, ...]:
    """Return the paths to read; without any, what is piped in. `how` says how to name one."""
    if named:
        return named
    if sys.stdin is None or sys.stdin.isatty():
        ctx.fail(
            f"There is nothing to read: {how}, or pipe in what "
            "'kubectl get nodes,pods,daemonsets -A -o json' prints."
        )
    return (STDIN,)
