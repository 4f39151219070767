"""Faults of files, sorted by what the caller can do about them.

FileFault
├── Missing     nothing is there: correct the path
├── Denied      the file may not be read: change its permissions
├── Unreadable  it is there and cannot be read, or not unpacked: look at the file itself
├── Empty       there is nothing in it: look at the command that wrote it
├── TooLarge    more than can be read at once: split the input
└── Unwritable  it cannot be written: choose another place
"""

from springtide.base.errors import SpringtideError


class FileFault(SpringtideError):
    """A file or standard input cannot be read; `name` is what the caller called it."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name


class Missing(FileFault):
    """There is no such file or folder."""


class Denied(FileFault):
    """The file may not be read."""


class Unreadable(FileFault):
    """The file is there, but its content cannot be had."""


class Empty(FileFault):
    """There is nothing to read."""


class TooLarge(FileFault):
    """The content exceeds what is read into memory."""


class Unwritable(FileFault):
    """The file cannot be written."""
