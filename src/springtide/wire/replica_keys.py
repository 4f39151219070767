"""Under which keys of etcd the members of a workload meet, as members old and new look for them.

Beside the status lie the lock and the records. A fleet that only observes has a status and a lock of its
own; the records are the same, as who may hold state does not depend on who decides.
"""

from typing import Final

import msgspec

from springtide.model.replicas.values import CUSTOM, Folder, ValueKey
from springtide.model.replicas.workload import Workload

PREFIX: Final = "/atapp/hpa/"
DISCOVERY: Final = "/atapp/services/"
DOMAIN: Final = "default"
OURS: Final = "/."
"""With this begins what lies beside a status and is ours."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where the status of a workload lies; `discovery` names one that an application made itself."""

    workload: Workload
    prefix: str = PREFIX
    discovery: str = ""
    is_observing: bool = False


class Keys(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of one workload; `base` is the status of a fleet that does not only observe."""

    base: str
    status: str

    @property
    def leader(self) -> str:
        """Return where the lock is."""
        return f"{self.status}{OURS}leader"

    @property
    def beside(self) -> str:
        """Return what the keys of all that is ours begin with."""
        return f"{self.base}{OURS}"

    @property
    def numbers(self) -> str:
        """Return what the keys of numbers begin with that members claim."""
        return f"{self.base}{OURS}index/"

    def number(self, index: int) -> str:
        """Return where it stands who claimed a number."""
        return f"{self.numbers}{index}"

    def claimed(self, key: str) -> int | None:
        """Return which number a key claims, if it does."""
        return _number(key, self.numbers)

    @property
    def records(self) -> str:
        """Return what the keys of records begin with."""
        return f"{self.base}{OURS}ready/"

    def record(self, index: int) -> str:
        """Return where the record of a number is."""
        return f"{self.records}{index}"

    def index(self, key: str) -> int | None:
        """Return of which number a key is the record, if it is one."""
        return _number(key, self.records)


def keys(place: Place) -> Keys:
    """Return the keys of a place."""
    domain = CUSTOM if place.discovery else DOMAIN
    base = _path(place, domain, place.discovery)
    return Keys(base=base, status=f"{base}{OURS}observe" if place.is_observing else base)


def folder_key(place: Place, folder: Folder) -> str:
    """Return where the values of a folder lie: its own at this key, the others below it."""
    return _path(place, folder.domain, folder.name, has_target=folder.has_target)


def value_key(place: Place, key: ValueKey) -> str:
    """Return where one value lies."""
    base = folder_key(place, key.folder)
    return f"{base}/{key.subkey}" if key.subkey else base


def member_keys(discovery: str, *, name: str, id: int, type_id: int, type_name: str) -> list[str]:  # noqa: A002
    """Return all keys under which a member is found; each holds the same."""
    leaf = f"{name}-{id}"
    folders = ["by_id", "by_name"]
    folders += [f"by_type_id/{type_id}"] if type_id else []
    folders += [f"by_type_name/{type_name}"] if type_name else []
    return [f"{discovery.rstrip('/')}/{each}/{leaf}" for each in folders]


def members_prefix(discovery: str) -> str:
    """Return what the keys begin with under which all members are found, each once."""
    return f"{discovery.rstrip('/')}/by_name/"


def _path(place: Place, domain: str, discovery: str, *, has_target: bool = True) -> str:
    workload = place.workload
    target = _joined(workload.kind, workload.api_version, workload.name) if has_target else ""
    environment = workload.environment.strip("/")
    if environment and target.startswith(f"{environment}/"):
        environment = ""
    return f"{place.prefix.rstrip('/')}/{_joined(environment, domain, target, discovery)}"


def _number(key: str, prefix: str) -> int | None:
    tail = key.removeprefix(prefix)
    is_one = tail != key and tail.isascii() and tail.isdecimal() and str(int(tail)) == tail
    return int(tail) if is_one else None


def _joined(*parts: str) -> str:
    stripped = (each.strip("/") for each in parts)
    return "/".join(each for each in stripped if each)
