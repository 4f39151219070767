"""Files: documents in files, in folders and on standard input, packed or not, and written ones."""

from springtide.edge.files.errors import (
    Denied,
    Empty,
    FileFault,
    Missing,
    TooLarge,
    Unreadable,
    Unwritable,
)
from springtide.edge.files.reading import SOURCE_BYTES_MAX, read
from springtide.edge.files.writing import check_writable, make_folder, write, write_parts

__all__ = [
    "SOURCE_BYTES_MAX",
    "Denied",
    "Empty",
    "FileFault",
    "Missing",
    "TooLarge",
    "Unreadable",
    "Unwritable",
    "check_writable",
    "make_folder",
    "read",
    "write",
    "write_parts",
]
