"""Reading documents into memory, named as the person named them.

A folder stands for all documents below it, in the order of their paths; hidden files and folders
are passed over, as are files of other kinds. Whatever is packed with gzip is unpacked, also from
standard input. Paths are texts: loading `pathlib` costs a short command 10 ms.
"""

import io
import os
import zlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

from springtide.edge.files.errors import Denied, Empty, FileFault, Missing, TooLarge, Unreadable
from springtide.wire.source import Source

SOURCE_BYTES_MAX: Final = 2 << 30
STDIN: Final = "-"
STDIN_NAME: Final = "standard input"
SUFFIXES: Final = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz")

_GZIP_MARK: Final = b"\x1f\x8b"


def read(paths: Sequence[str], stdin: BinaryIO) -> list[Source]:
    """Return the content of every file named, or raise FileFault; `-` is standard input."""
    return [source for path in paths for source in _read(path, stdin)]


def _read(path: str, stdin: BinaryIO) -> list[Source]:
    if path == STDIN:
        return [_filled(_stdin(stdin), "the command before it printed nothing; run it alone.")]
    if os.path.isdir(path):
        return _folder(path)
    return [_filled(_file(path), "the file is empty; look at the command that wrote it.")]


def _folder(folder: str) -> list[Source]:
    sources = [_file(path) for path in _documents(folder)]
    filled = [each for each in sources if each.data.strip()]
    if not filled:
        known = ", ".join(SUFFIXES)
        raise Empty(folder, f"the folder holds no documents; put files there ({known}).")
    return filled


def _documents(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as fault:
        raise _fault(folder, fault) from fault
    for entry in entries:
        if entry.name.startswith("."):
            continue
        # A link to a folder may lead back up.
        if entry.is_dir(follow_symlinks=False):
            yield from _documents(entry.path)
        elif entry.name.endswith(SUFFIXES):
            yield entry.path


def _file(path: str) -> Source:
    try:
        with open(path, "rb") as file:
            data = file.read(SOURCE_BYTES_MAX + 1)
    except OSError as fault:
        raise _fault(path, fault) from fault
    return Source(path, _unpacked(path, _bounded(path, data)))


def _stdin(stdin: BinaryIO) -> Source:
    try:
        data = stdin.read(SOURCE_BYTES_MAX + 1)
    except OSError as fault:
        raise _fault(STDIN_NAME, fault) from fault
    return Source(STDIN_NAME, _unpacked(STDIN_NAME, _bounded(STDIN_NAME, data)))


def _unpacked(name: str, data: bytes) -> bytes:
    if not data.startswith(_GZIP_MARK):
        return data
    # Only packed input needs it, and every start would pay for loading it.
    import gzip  # noqa: PLC0415

    try:
        with gzip.open(io.BytesIO(data)) as file:
            return _bounded(name, file.read(SOURCE_BYTES_MAX + 1))
    except (OSError, EOFError, zlib.error) as fault:
        message = f"it is packed with gzip and cannot be unpacked: {fault}. Pack it again."
        raise Unreadable(name, message) from fault


def _filled(source: Source, remedy: str) -> Source:
    if not source.data.strip():
        raise Empty(source.name, remedy)
    return source


def _bounded(name: str, data: bytes) -> bytes:
    if len(data) > SOURCE_BYTES_MAX:
        size_gib = SOURCE_BYTES_MAX >> 30
        raise TooLarge(name, f"it holds more than {size_gib} GiB; split it into several files.")
    return data


def _fault(name: str, fault: OSError) -> FileFault:
    match fault:
        case FileNotFoundError() | NotADirectoryError():
            return Missing(name, "there is no such file or folder; check the path.")
        case PermissionError():
            return Denied(name, "it may not be read; change its permissions.")
        case _:
            return Unreadable(name, f"it cannot be read: {fault.strerror or fault}.")
