"""Watches over pods that hold state while a test goes on: none of them may be deleted."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tests.e2e.controlplane import ControlPlane
from tests.e2e.objects import PODS

LOOK_S: Final = 0.1


class Sparing:
    """The pods that hold state now, and those that were lost all the same."""

    def __init__(self, plane: ControlPlane, app: str) -> None:
        self.holding: frozenset[str] = frozenset()
        self.lost: set[str] = set()
        self.ended = threading.Event()
        self._plane = plane
        self._path = f"{PODS}?labelSelector=app%3D{app}"

    def watch(self) -> None:
        """Look until told to end."""
        while not self.ended.wait(LOOK_S):
            # Whoever is drained afterwards may go, so what is held is looked at first.
            holding = self.holding
            self.lost |= holding - standing(self._plane, self._path)


def standing(plane: ControlPlane, path: str) -> frozenset[str]:
    """Return the pods that are there and stay."""
    listed = plane.ask("GET", path)["items"]
    return frozenset(
        each["metadata"]["name"] for each in listed if "deletionTimestamp" not in each["metadata"]
    )


@contextmanager
def sparing(plane: ControlPlane, app: str) -> Iterator[Sparing]:
    """Watch over the pods of an app as long as the block; none may have been lost."""
    found = Sparing(plane, app)
    thread = threading.Thread(target=found.watch)
    thread.start()
    try:
        yield found
        assert thread.is_alive(), "nobody has watched"
    finally:
        found.ended.set()
        thread.join()
    assert found.lost == set()
