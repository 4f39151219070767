"""Faults of documents, sorted by what the caller can do about them.

DocumentFault
├── MalformedDocument   not JSON or YAML at this place: repair or write the file again
├── InvalidDocument     readable, but a field is wrong or unknown: change the field
└── MalformedObject     one API object is broken: leave it out, the others still count
"""

from springtide.base.errors import SpringtideError


class DocumentFault(SpringtideError):
    """A document cannot be used; the message says where and what to do."""


class MalformedDocument(DocumentFault):
    """The text is not JSON or YAML."""

    def __init__(self, source: str, *, line: int, reason: str, remedy: str) -> None:
        super().__init__(f"{source}, line {line}: {reason} {remedy}")
        self.source = source
        self.line = line
        self.reason = reason


class InvalidDocument(DocumentFault):
    """The document is read, but says something that cannot be."""

    def __init__(self, source: str, *, line: int, field: str, reason: str) -> None:
        where = f"{source}, line {line}" if line else source
        super().__init__(f"{where}: {field}: {reason}" if field else f"{where}: {reason}")
        self.source = source
        self.line = line
        self.field = field
        self.reason = reason


class MalformedObject(DocumentFault):
    """A field of one API object cannot be read; `field` is its path, empty for the whole object."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.field = field
        self.reason = reason

    def within(self, path: str) -> "MalformedObject":
        """Return the fault as seen from outside, with `path` before its own."""
        dot = "." if self.field and not self.field.startswith("[") else ""
        joined = f"{path}{dot}{self.field}"
        return MalformedObject(joined, self.reason)
