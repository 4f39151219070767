"""What the four streams of a store have shown: pods, both ConfigMaps and the Lease.

Only while all of them are heard does the store know what there is. It keeps records, and decides nothing.
"""

from enum import Enum, auto
from typing import TypeVar

from springtide.base.versions import is_older
from springtide.edge.cluster import Added, Change, Deleted, Interrupted, Resumed, Synced, Updated
from springtide.edge.store.kubernetes.sighting import Sighting
from springtide.edge.store.told import MembersRead, RecordsRead
from springtide.model.config_map import ConfigMap
from springtide.model.lease import Lease
from springtide.model.replicas.member import Member
from springtide.wire.k8s.replica_maps import read_records
from springtide.wire.k8s.replica_pods import Numbering, ReplicaPod, member_of

T = TypeVar("T")


class Stream(Enum):
    """What is followed."""

    PODS = auto()
    STATUS = auto()
    RECORDS = auto()
    LOCK = auto()


class Hearing:
    """What is known."""

    def __init__(self, sighting: Sighting) -> None:
        self.pods: dict[str, ReplicaPod] = {}
        self.status: ConfigMap | None = None
        self.records: ConfigMap | None = None
        self.sighting = sighting
        self.status_changes = 0
        self._synced: set[Stream] = set()
        self._silent: set[Stream] = set()

    @property
    def is_whole(self) -> bool:
        """Return whether everything has been told once, and goes on being told."""
        return len(self._synced) == len(Stream) and not self._silent

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
                self.pods[key] = pod
            case Deleted(key=key):
                self.pods.pop(key, None)
            case _:
                pass

    def hear_status(self, change: Change[ConfigMap]) -> None:
        """Take notice of the status, unless something newer was read meanwhile."""
        match change:
            case Added(record=config) | Updated(record=config):
                known = self.status
                is_late = known is not None and known.uid == config.uid
                if known is None or not (is_late and is_older(config.version, known.version)):
                    self._put_status(config)
            case Deleted():
                self._put_status(None)
            case _:
                pass

    def read_status(self, config: ConfigMap | None, *, changes_before: int) -> None:
        """Take notice of what was read, unless something was heard while it was on its way."""
        if self.status_changes == changes_before:
            self.status = config

    def hear_records(self, change: Change[ConfigMap]) -> None:
        """Take notice of the records."""
        match change:
            case Added(record=config) | Updated(record=config):
                self.records = config
            case Deleted():
                self.records = None
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

    def members(self, numbering: Numbering) -> MembersRead:
        """Return who is there, in order."""
        found = (member_of(each, numbering) for each in self.pods.values())
        living: list[Member] = [each for each in found if each is not None]
        return MembersRead(tuple(sorted(living, key=lambda each: (each.id, each.name))))

    def records_read(self) -> RecordsRead:
        """Return who may hold state."""
        return RecordsRead(read_records(self.records))

    def _put_status(self, config: ConfigMap | None) -> None:
        self.status = config
        self.status_changes += 1
