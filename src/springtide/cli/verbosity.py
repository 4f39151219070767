"""What is told beside the answer on standard error: one line an event, as far as -v asks for it.

A line is the event's name and its facts as `name=value`; values with anything but plain characters
are quoted as JSON strings, so that programs can take lines apart.
"""

import re
from collections.abc import Callable
from typing import Final, TypeVar

import click

from springtide.base.telling import Level, Tell, Untold

ResultT = TypeVar("ResultT")

LEVEL_MAX: Final = 9
_PLAIN: Final = r"[\w.:/@%+\[\]<>()*,-]+"


class Verbosity(click.ParamType[int]):
    """A number from 0 to 9, with or without the sign that kubectl's users write before it."""

    name = "level"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what stands for the value in help texts."""
        return "0..9"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the level, or end with a usage error."""
        text = str(value).removeprefix("=")
        if not text.isdecimal() or int(text) > LEVEL_MAX:
            self.fail(f"{text!r} is no level of verbosity. Write a number from 0 to 9.", param, ctx)
        return int(text)


def verbose_option(command: Callable[..., ResultT]) -> Callable[..., ResultT]:
    """Give a command the option -v; it takes the level as `verbosity`."""
    return click.option(
        "-v",
        "--v",
        "verbosity",
        type=Verbosity(),
        default=0,
        show_default=True,
        help="Say on standard error what happens: from 2 on decisions, from 4 on what led to them, "
        "from 6 on requests to servers, from 8 on their bodies without values that may be secret.",
    )(command)


class Teller:
    """Prints what is told up to a level."""

    def __init__(self, verbosity: int) -> None:
        self._verbosity = verbosity

    def __call__(self, level: Level, event: str, **facts: str | float) -> None:
        """Print one event."""
        if self.hears(level):
            click.echo(line(event, facts), err=True)

    def hears(self, level: Level) -> bool:
        """Return whether events of the level are printed."""
        return level <= self._verbosity


def teller(verbosity: int) -> Tell:
    """Return what takes events at this level of verbosity."""
    return Teller(verbosity) if verbosity >= Level.DECISION else Untold()


def line(event: str, facts: dict[str, str | float]) -> str:
    """Return an event as one line."""
    return " ".join([event, *(f"{name}={_value(value)}" for name, value in facts.items())])


def _value(value: str | float) -> str:
    text = str(value)
    if re.fullmatch(_PLAIN, text, re.ASCII):
        return text
    # Only who asks for it pays for loading it.
    import json  # noqa: PLC0415

    return json.dumps(text, ensure_ascii=False)
