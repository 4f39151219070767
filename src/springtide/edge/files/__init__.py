"""Input files: documents in files, in folders and on standard input, packed or not."""

from springtide.edge.files.errors import Denied, Empty, FileFault, Missing, TooLarge, Unreadable
from springtide.edge.files.reading import SOURCE_BYTES_MAX, read

__all__ = [
    "SOURCE_BYTES_MAX",
    "Denied",
    "Empty",
    "FileFault",
    "Missing",
    "TooLarge",
    "Unreadable",
    "read",
]
