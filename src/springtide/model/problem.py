"""Problems: input that was left out, and why. A value, because the rest of the input still counts."""

import msgspec


class Problem(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing in the input that could not be used.

    `object` is `Kind/namespace/name` as far as they are known, or `items[3]`; `field` is the path
    inside it, empty when the whole object is meant; `message` is a sentence with the remedy.
    """

    source: str
    object: str
    field: str = ""
    message: str

    @property
    def text(self) -> str:
        """Return the problem as one line."""
        where = f"{self.object}, {self.field}" if self.field else self.object
        return f"{self.source}: {where}: {self.message}"
