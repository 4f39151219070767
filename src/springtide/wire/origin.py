"""Where a value came from, so that a complaint about it can say so."""

import msgspec

from springtide.wire.errors import InvalidDocument
from springtide.wire.validation import Path, shown
from springtide.wire.yaml import Document


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """One object inside a source; `path` leads to it from the document's root.

    Only YAML documents know their lines: JSON is written by programs.
    """

    source: str
    document: Document | None = None
    path: Path = ()

    @property
    def label(self) -> str:
        """Return the source, with the line of the document where one source has several."""
        if self.document is None:
            return self.source
        return f"{self.source}:{self.document.line}"

    @property
    def place(self) -> str:
        """Return where inside its document the object stands, empty for the document itself."""
        return shown(self.path)

    def item(self, index: int) -> "Origin":
        """Return the origin of one item of a list."""
        return msgspec.structs.replace(self, path=(*self.path, "items", index))

    def fault(self, path: Path, reason: str) -> InvalidDocument:
        """Return the fault of the field at this path inside the object."""
        line = self.document.line_of(self.path + path) if self.document is not None else 0
        return InvalidDocument(self.source, line=line, field=shown(path), reason=reason)
