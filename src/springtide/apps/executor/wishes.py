"""Who says how many members are wanted, and which must keep serving."""

from typing import Protocol

from springtide.engine.replicas.executing import Wish


class Wishes(Protocol):
    """A source of wishes, such as a monitoring system or the store of statuses."""

    async def wish(self) -> Wish:
        """Return what is wanted now; what is in doubt is unknown, and its words say why. Raises nothing."""
        ...
