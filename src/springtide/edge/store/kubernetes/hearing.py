"""What the streams of a store have shown: pods, ConfigMaps and the Lease; values only where they are wanted.

Only while all of them are heard does the store know what there is. It keeps records, and decides nothing.
"""

from collections.abc import Iterable
from enum import Enum, auto
from typing import TypeVar

from springtide.base.versions import is_older
from springtide.edge.cluster import Added, Change, Deleted, Interrupted, Resumed, Synced, Updated
from springtide.edge.store.kubernetes.sighting import Sighting
from springtide.edge.store.told import MembersRead, ValuesRead
from springtide.model.config_map import ConfigMap
from springtide.model.lease import Lease
from springtide.model.replicas.member import Member
from springtide.model.replicas.values import Folder, within
from springtide.wire.k8s.replica_maps import read_values
from springtide.wire.k8s.replica_pods import Numbering, ReplicaPod, member_of

T = TypeVar("T")


class Stream(Enum):
    """What is followed."""

    PODS = auto()
    STATUS = auto()
    RECORDS = auto()
    LOCK = auto()
    VALUES = auto()


class Copy:
    """A ConfigMap as it is known: heard by a watch, which may be late, and read now and then."""

    def __init__(self) -> None:
        self.config: ConfigMap | None = None
        self.changes = 0

    def hear(self, change: Change[ConfigMap]) -> None:
        """Take notice of a change, unless something newer is known."""
        known = self.config
        match change:
            case Added(record=config) | Updated(record=config) if not _is_late(config, known):
                self.config, self.changes = config, self.changes + 1
            case Deleted(uid=uid) if known is None or known.uid == uid:
                self.config, self.changes = None, self.changes + 1
            case _:
                pass

    def read(self, config: ConfigMap | None, *, changes_before: int) -> None:
        """Take notice of what was read, unless something newer was heard while it was on its way."""
        is_overtaken = self.changes != changes_before
        if not (is_overtaken and (config is None or _is_late(config, self.config))):
            self.config = config


class Hearing:
    """What is known."""

    def __init__(self, sighting: Sighting, numbering: Numbering) -> None:
        self.status = Copy()
        self.records = Copy()
        self.values = Copy()
        self.sighting = sighting
        self.pod_changes = 0
        self._there: dict[str, Member] = {}
        self._numbering = numbering
        self._wanted = set(Stream) - {Stream.VALUES}
        self._synced: set[Stream] = set()
        self._silent: set[Stream] = set()

    @property
    def is_whole(self) -> bool:
        """Return whether everything has been told once, and goes on being told."""
        return self._wanted <= self._synced and not self._silent

    def want_values(self) -> None:
        """Count on the values, too, from now on."""
        self._wanted.add(Stream.VALUES)

    @property
    def has_values(self) -> bool:
        """Return whether values have been heard."""
        return Stream.VALUES in self._synced

    def note(self, stream: Stream, change: Change[T]) -> bool:
        """Take notice of how a stream fares, and return whether that made the whole complete."""
        was_whole = self.is_whole
        match change:
            case Synced():
                self._synced.add(stream)
            case Interrupted():
                self._silent.add(stream)
            case Resumed():
                self._silent.discard(stream)
            case _:
                pass
        return self.is_whole and not was_whole

    def hear_pod(self, change: Change[ReplicaPod]) -> None:
        """Take notice of a pod."""
        match change:
            case Added(key=key, record=pod) | Updated(key=key, record=pod):
                self._put(key, member_of(pod, self._numbering))
            case Deleted(key=key):
                self._put(key, None)
            case _:
                pass

    def hear_lock(self, change: Change[Lease], now_s: float) -> None:
        """Take notice of the Lease."""
        match change:
            case Added(record=lease) | Updated(record=lease):
                self.sighting.hear(lease, now_s)
            case Deleted():
                self.sighting.hear(None, now_s)
            case _:
                pass

    def members(self) -> MembersRead:
        """Return who is there, in order."""
        there = sorted(self._there.values(), key=lambda each: (each.id, each.name))
        return MembersRead(tuple(there))

    def _put(self, key: str, member: Member | None) -> None:
        """Note who is in a pod; what a kubelet reports of it mostly changes nothing about that."""
        if self._there.get(key) != member:
            self.pod_changes += 1
            if member is None:
                del self._there[key]
            else:
                self._there[key] = member

    def values_read(self, folders: Iterable[Folder]) -> ValuesRead:
        """Return the values of some folders."""
        config = self.values.config
        return ValuesRead({each: within(read_values(config, each)) for each in folders})


def _is_late(config: ConfigMap, known: ConfigMap | None) -> bool:
    """Return whether it comes before what is known of the same object."""
    is_same = known is not None and known.uid == config.uid
    return known is not None and is_same and is_older(config.version, known.version)
