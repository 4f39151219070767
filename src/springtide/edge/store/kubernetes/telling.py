"""What was told last of what is known, so that nothing is told twice, and nothing while it is in doubt."""

from springtide.edge.store.kubernetes.hearing import Hearing
from springtide.edge.store.kubernetes.status import status_read
from springtide.edge.store.looking import Looking
from springtide.edge.store.port import MEMBERS_S_MIN, Deliver
from springtide.edge.store.told import (
    Away,
    Confirmed,
    LockRead,
    MembersRead,
    RecordsRead,
    StatusDamaged,
    StatusRead,
    ValuesRead,
)
from springtide.model.config_map import ConfigMap
from springtide.wire.k8s.replica_maps import read_records

_NO_VALUES = ValuesRead({})


class Telling:
    """Tells one follower."""

    def __init__(self, deliver: Deliver, hearing: Hearing, *, looking: Looking) -> None:
        self._deliver = deliver
        self._hearing = hearing
        self._looking = looking
        self._is_sure = False
        self._is_away = False
        self._status: StatusRead | StatusDamaged | None = None
        self._status_of: ConfigMap | None = None
        self._members: MembersRead | None = None
        self._members_at = -1
        self._members_from_s = 0.0
        self._records: RecordsRead | None = None
        self._records_of: ConfigMap | None = None
        self._lock: LockRead | None = None
        self._values = _NO_VALUES
        self._values_of: ConfigMap | None = None

    def away(self, why: str) -> None:
        """Tell once that the store is away; everything is told again when it is back."""
        self._is_sure = False
        self._status = self._members = self._records = self._lock = None
        self._values = _NO_VALUES
        if not self._is_away:
            self._is_away = True
            self._deliver(Away(why))

    def confirm(self, now_s: float) -> None:
        """Tell what differs, and that all of it is so: the status was just read."""
        if self._hearing.is_whole:
            self._is_sure, self._is_away = True, False
            self.tell(now_s)
            self._deliver(Confirmed())

    def tell(self, now_s: float) -> float | None:
        """Tell what differs, and return when to look again even if nothing is heard."""
        if not (self._is_sure and self._hearing.is_whole):
            return None
        self._tell_status()
        wait_s = self._tell_members(now_s)
        self._tell_records()
        self._tell_values()
        return min(filter(None, (wait_s, self._tell_lock(now_s))), default=None)

    def _tell_status(self) -> None:
        before, config = self._status_of, self._hearing.status.config
        if self._status is not None and config is before:
            return
        if before is not None and config is not None and config.uid != before.uid:
            # It was deleted and made anew.
            self._tell_of_status(StatusRead(status=None))
        self._tell_of_status(status_read(config))
        self._status_of = config

    def _tell_of_status(self, status: StatusRead | StatusDamaged) -> None:
        if status != self._status:
            self._status = status
            self._deliver(status)

    def _tell_members(self, now_s: float) -> float | None:
        """Tell who is there, not too often; return when it may be told, if it may not yet."""
        if self._members is not None and self._members_at == self._hearing.pod_changes:
            return None
        if self._members is not None and now_s < self._members_from_s:
            return self._members_from_s
        members, self._members_at = self._hearing.members(), self._hearing.pod_changes
        if members != self._members:
            self._members, self._members_from_s = members, now_s + MEMBERS_S_MIN
            self._deliver(members)
        return None

    def _tell_records(self) -> None:
        config = self._hearing.records.config
        if self._records is not None and config is self._records_of:
            return
        records, self._records_of = RecordsRead(read_records(config)), config
        if records != self._records:
            self._records = records
            self._deliver(records)

    def _tell_values(self) -> None:
        folders = sorted(self._looking.folders) if self._hearing.has_values else []
        config = self._hearing.values.config
        if config is self._values_of and self._values.values.keys() == set(folders):
            return
        values, self._values_of = self._hearing.values_read(folders), config
        if values != self._values:
            self._values = values
            self._deliver(values)

    def _tell_lock(self, now_s: float) -> float | None:
        lock = self._hearing.sighting.read(now_s)
        if lock != self._lock:
            self._lock = lock
            self._deliver(lock)
        ends_s = self._hearing.sighting.ends_s
        return ends_s if ends_s is not None and ends_s > now_s else None
