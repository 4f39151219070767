"""Endings of a command that is over before its answer: a sentence, and the exit code that it means."""

from typing import Final

from springtide.base.errors import SpringtideError

USAGE: Final = 2
UNREACHABLE: Final = 3
DENIED: Final = 4
INTERRUPTED: Final = 130
# As a shell says of a program that the signal of a broken pipe ended.
UNREAD: Final = 141


class Ended(SpringtideError):
    """The command ends here with this code; the message goes to standard error."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code
