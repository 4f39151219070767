"""Writing one file whole: it is there as it should be, or as it was before."""

import os
from collections.abc import Iterable

from springtide.edge.files.errors import Unwritable


def write(path: str, data: bytes) -> None:
    """Put the data into the file, or raise Unwritable; a file that is there is replaced."""
    write_parts(path, (data,))


def write_parts(path: str, parts: Iterable[bytes]) -> None:
    """Put the parts into the file one after the other, for data that is not to be had at once."""
    beside = f"{path}.{os.getpid()}.part"
    try:
        with open(beside, "wb") as file:
            file.writelines(parts)
        os.replace(beside, path)
    except BaseException as fault:
        if os.path.exists(beside):
            os.unlink(beside)
        if not isinstance(fault, OSError):
            raise
        raise _unwritable(path, fault) from fault


def make_folder(path: str) -> None:
    """Make the folder and those around it unless they are there, or raise Unwritable."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as fault:
        raise _unwritable(path, fault) from fault


def check_writable(path: str) -> None:
    """Raise Unwritable if writing the file is bound to fail, before the work for it is done."""
    folder = os.path.dirname(path) or os.curdir
    if os.path.isdir(path):
        raise Unwritable(path, "it is a folder. Name a file.")
    if not os.path.isdir(folder):
        raise Unwritable(path, "its folder does not exist. Make it, or choose another place.")
    if not os.access(folder, os.W_OK):
        raise Unwritable(path, "its folder may not be written to. Choose another place.")


def _unwritable(path: str, fault: OSError) -> Unwritable:
    why = fault.strerror or fault
    return Unwritable(path, f"it cannot be written: {why}. Choose another place.")
