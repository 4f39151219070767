"""Which keys a member looks at: what lies beside the status, the status itself, and all members."""

from collections.abc import Iterable
from typing import Final

import msgspec

from springtide.edge.store.etcd import shapes
from springtide.edge.store.etcd.shapes import Fields
from springtide.wire.replica_keys import Keys

FIRST_WATCH: Final = 1
"""What the watch of the first one is called; etcd takes 0 for no name."""


class Span(msgspec.Struct, frozen=True):
    """One key, or all that begin with it."""

    key: str
    is_prefix: bool = False

    def holds(self, key: str) -> bool:
        """Return whether a key is one of these."""
        return key.startswith(self.key) if self.is_prefix else key == self.key


def spans(keys: Keys, members: str) -> tuple[Span, ...]:
    """Return what is looked at; that of who only observes lies beside the status of the others."""
    own = () if keys.status != keys.base else (Span(keys.status),)
    return (*own, Span(keys.beside, is_prefix=True), Span(members, is_prefix=True))


def folder_spans(folders: Iterable[str]) -> tuple[Span, ...]:
    """Return where values lie: at the key of a folder and below it, but not beside it."""
    return tuple(span for key in folders for span in (Span(key), Span(f"{key}/", is_prefix=True)))


def reading(looked_at: tuple[Span, ...], since: tuple[int, ...]) -> Fields:
    """Return a transaction that reads of each what is newer than a revision, all at once."""
    return shapes.txn(
        [
            shapes.get(each.key, is_prefix=each.is_prefix, since=seen)
            for each, seen in zip(looked_at, since, strict=True)
        ]
    )


def watches(looked_at: tuple[Span, ...], seen: tuple[int, ...]) -> bytes:
    """Return the requests that begin one stream with the watches of all, each from where it is known."""
    return b"".join(
        shapes.encoded(
            {
                "create_request": {
                    **shapes.span(each.key, is_prefix=each.is_prefix),
                    "start_revision": str(seen[at] + 1),
                    "progress_notify": True,
                    "watch_id": str(at + FIRST_WATCH),
                }
            }
        )
        for at, each in enumerate(looked_at)
    )
