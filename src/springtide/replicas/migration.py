"""What an application needs to move its state without an interruption, each small and without I/O.

Labels say only that state is to move. That nothing is lost or doubled on its way takes a version of every
object, that nobody leaves with something in its hands takes counting, and both are here.
"""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self

import msgspec

from springtide.base.errors import SpringtideError

UNKNOWN: Final = 0
"""The version of an object that was never here."""


class Outdated(SpringtideError):
    """Somebody wrote or moved the object meanwhile: read it again, decide again."""

    def __init__(self, key: str, *, known: int, offered: int) -> None:
        super().__init__(
            f"{key} is known here at version {known}, and version {offered} came; read it again."
        )
        self.known = known
        self.offered = offered


class Versions:
    """The last known version of every object that is or was here.

    Keep the version of what was given away: it tells a late copy of an old transfer from a new one. Raise it
    by one with each transfer, so that what comes back unchanged is newer all the same.
    """

    def __init__(self, known: Mapping[str, int] | None = None) -> None:
        self._known = dict(known or {})

    def of(self, key: str) -> int:
        """Return the last known version, UNKNOWN if there is none."""
        return self._known.get(key, UNKNOWN)

    def accepts(self, key: str, version: int) -> bool:
        """Return whether a transfer of this version is newer than all that is known."""
        return version > self.of(key)

    def take(self, key: str, version: int) -> None:
        """Know this version from now on; one that is not newer is Outdated."""
        if not self.accepts(key, version):
            raise Outdated(key, known=self.of(key), offered=version)
        self._known[key] = version

    def write(self, key: str, seen: int) -> int:
        """Return the version of a change that was made to the version `seen`, if that is the last one."""
        if seen != self.of(key):
            raise Outdated(key, known=self.of(key), offered=seen)
        self._known[key] = seen + 1
        return seen + 1

    def forget(self, key: str) -> None:
        """Know nothing of an object any more; only once no transfer of it can be under way."""
        self._known.pop(key, None)


class InFlight:
    """Counts what has begun and not ended, such as requests or sessions: `with requests: ...`."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> Self:
        self.count += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.count -= 1
        assert self.count >= 0

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.__exit__(kind, fault, trace)


class Left(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a member still holds."""

    owned: int
    in_flight: int
    sessions: int

    @property
    def is_any(self) -> bool:
        """Return whether anything is left."""
        return self.owned + self.in_flight + self.sessions > 0

    def __str__(self) -> str:
        return (
            f"{self.owned} objects, {self.in_flight} requests in flight, {self.sessions} sessions"
        )


class Draining:
    """Answers the stateful check: objects, requests in flight, and open sessions, all of them gone or not.

    Count as owned also what others have been promised to take: whoever leaves with a promise out loses it.
    """

    def __init__(
        self,
        *,
        owned: Callable[[], int],
        in_flight: InFlight | None = None,
        sessions: InFlight | None = None,
    ) -> None:
        self._owned = owned
        self._in_flight = in_flight or InFlight()
        self._sessions = sessions or InFlight()

    def left(self) -> Left:
        """Return what is still here."""
        return Left(
            owned=self._owned(), in_flight=self._in_flight.count, sessions=self._sessions.count
        )

    def holds_state(self) -> bool:
        """Return whether anything is still here; `controller.set_stateful_check(draining.holds_state)`."""
        return self.left().is_any
