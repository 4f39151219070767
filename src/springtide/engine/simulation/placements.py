"""Which pod is where in a session, with levels that can be taken back in as many steps as there were changes."""

from collections.abc import Iterator, Mapping
from itertools import count

import msgspec


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """One pod on its node, with the annotations that it would have got; `order` is that of placing."""

    uid: str
    namespace: str
    name: str
    node: str
    annotations: Mapping[str, str]
    order: int


class Placements:
    """Pods by uid. While a level is open, `changes` counts what may have to be taken back."""

    def __init__(self) -> None:
        self._placed: dict[str, Placed] = {}
        self._undo: list[tuple[str, Placed | None]] = []
        self._marks: list[int] = []
        self._order = count()

    def __len__(self) -> int:
        """Return how many pods are placed."""
        return len(self._placed)

    def __iter__(self) -> Iterator[Placed]:
        """Iterate over the pods in the order in which they were placed."""
        return iter(sorted(self._placed.values(), key=lambda each: each.order))

    @property
    def levels(self) -> int:
        """Return how many levels are open."""
        return len(self._marks)

    @property
    def changes(self) -> int:
        """Return how many changes the open levels have."""
        return len(self._undo)

    def next_order(self) -> int:
        """Return the place of the next pod in the order of placing."""
        return next(self._order)

    def get(self, uid: str) -> Placed | None:
        """Return where a pod is, None if it is not placed."""
        return self._placed.get(uid)

    def add(self, placed: Placed) -> None:
        """Place a pod; a level must be open."""
        assert placed.uid not in self._placed, placed.uid
        self._placed[placed.uid] = placed
        self._undo.append((placed.uid, None))

    def take(self, uid: str) -> Placed:
        """Take a pod away; a level must be open."""
        placed = self._placed.pop(uid)
        self._undo.append((uid, placed))
        return placed

    def fork(self) -> None:
        """Open a level."""
        self._marks.append(len(self._undo))

    def commit(self) -> None:
        """Keep the changes of the last level; they belong to the level below, if any."""
        self._marks.pop()
        if not self._marks:
            self._undo.clear()

    def revert(self) -> None:
        """Undo the changes of the last level."""
        mark = self._marks.pop()
        while len(self._undo) > mark:
            uid, before = self._undo.pop()
            if before is None:
                del self._placed[uid]
            else:
                self._placed[uid] = before
