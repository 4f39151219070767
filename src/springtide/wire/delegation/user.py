"""Who asks, as the API server knows them."""

from typing import Final

import msgspec

MASTERS: Final = "system:masters"
"""Whoever is in this group may do everything."""
KNOWN: Final = "system:authenticated"
ANONYMOUS: Final = "system:anonymous"
_EITHER: Final = frozenset({KNOWN, "system:unauthenticated"})


class User(msgspec.Struct, frozen=True, kw_only=True):
    """One user; it can be the key of a table."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def as_known(self) -> "User":
        """Return the user with the group of all who are known, which a front proxy may leave to us.

        The aggregator asks for documents of OpenAPI in the name of a user without groups.
        """
        if self.name == ANONYMOUS or not _EITHER.isdisjoint(self.groups):
            return self
        return msgspec.structs.replace(self, groups=(*self.groups, KNOWN))
