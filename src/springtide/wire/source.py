"""Where a document came from: bytes with a name that people recognise."""

import msgspec


class Source(msgspec.Struct, frozen=True, gc=False):
    """One file, or standard input, in memory."""

    name: str
    data: bytes
