"""Options of the commands that ask one member."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import click

ResultT = TypeVar("ResultT")


class Asked(NamedTuple):
    """Which member is asked, and how it knows us."""

    url: str
    token_file: str = ""
    timeout_s: float = 10.0


def member_options(command: Callable[..., ResultT]) -> Callable[..., ResultT]:
    """Add the options that say which member is asked."""
    for option in (
        click.option(
            "--request-timeout",
            default=10.0,
            show_default=True,
            metavar="SECONDS",
            help="For how long the member is waited for.",
        ),
        click.option(
            "--token-file",
            default="",
            metavar="FILE",
            envvar="SPRINGTIDE_REPLICAS_TOKEN_FILE",
            help="The token that the member asks for.",
        ),
        click.option(
            "--url",
            default="http://127.0.0.1:9398",
            show_default=True,
            envvar="SPRINGTIDE_REPLICAS_URL",
            help="The member.",
        ),
    ):
        command = option(command)
    return command
