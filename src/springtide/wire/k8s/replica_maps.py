"""What a workload's ConfigMaps hold: the status with its fence, the records of who may hold state, and values.

Beside the status stands the token of the latest leader, and its revision: one more than the version of the
object that it was written over, with a check sum by which it is seen if somebody wrote the status by hand. Then
the revision is the version of the object. So revisions grow, and what changes beside the status changes none.
Records are one text for each number; one that cannot be read still protects its number. Values are one text each,
under domain, name and subkey with dots between them; what a ConfigMap cannot name is written as `_` and two digits.
"""

import re
import zlib
from typing import Final

import msgspec

from springtide.model.config_map import ConfigMap
from springtide.model.replicas.member import Record
from springtide.model.replicas.status import Status
from springtide.model.replicas.values import Folder, ValueKey
from springtide.wire.errors import DocumentFault
from springtide.wire.replica_members import read_record, write_record
from springtide.wire.replica_status import read_status, write_status

STATUS: Final = "status"
FENCE: Final = "token"
REVISION: Final = "revision"
_DIGITS_MAX: Final = 19
_PLAIN: Final = re.compile(r"[A-Za-z0-9-]")
_WRITTEN: Final = re.compile(r"_([0-9a-f]{2})")


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What a status ConfigMap holds; `why` says what is wrong with a status that cannot be read."""

    token: int = 0
    revision: int = 0
    status: Status | None = None
    why: str = ""


def read_kept(config: ConfigMap | None) -> Kept:
    """Return what is kept; nothing if there is no ConfigMap."""
    if config is None:
        return Kept()
    token = _number(config.data.get(FENCE, ""))
    text = config.data.get(STATUS)
    if text is None:
        return Kept(token=token)
    revision = _revision(config, text)
    try:
        return Kept(token=token, revision=revision, status=read_status(text.encode()))
    except DocumentFault as fault:
        return Kept(token=token, revision=revision, why=str(fault))


def token_data(token: int) -> dict[str, str | None]:
    """Return what says that nobody with a smaller token may write."""
    return {FENCE: str(token)}


def status_data(status: Status, *, over: ConfigMap) -> tuple[dict[str, str | None], int]:
    """Return what is written for a status over this state of the object, and its revision."""
    text = write_status(status).decode()
    revision = _version_number(over.version) + 1
    return {STATUS: text, REVISION: f"{revision} {_sum(text)}"}, revision


def read_records(config: ConfigMap | None) -> dict[int, Record]:
    """Return the records by number; what has no number for a name is none."""
    data = {} if config is None else config.data
    return {int(key): read_record(text.encode()) for key, text in data.items() if _number(key) > 0}


def record_data(index: int, record: Record | None) -> dict[str, str | None]:
    """Return what is written for a record, or to delete it."""
    return {str(index): None if record is None else write_record(record).decode()}


def read_values(config: ConfigMap | None, folder: Folder) -> dict[str, str]:
    """Return what lies in a folder, by subkey."""
    data = {} if config is None else config.data
    own = value_name(ValueKey(folder))
    below = f"{own}."
    return {
        _plain(name.removeprefix(own).removeprefix(".")): text
        for name, text in data.items()
        if name == own or name.startswith(below)
    }


def value_name(key: ValueKey) -> str:
    """Return under which name a value stands."""
    parts = (key.folder.domain, key.folder.name, *([key.subkey] if key.subkey else []))
    return ".".join(_encoded(each) for each in parts)


def value_data(key: ValueKey, text: str) -> dict[str, str | None]:
    """Return what is written for a value, or to delete it."""
    return {value_name(key): text or None}


def version_number(config: ConfigMap) -> int:
    """Return the version of an object as a revision."""
    return _version_number(config.version)


def _encoded(part: str) -> str:
    return "".join(
        chr(byte) if _PLAIN.match(chr(byte)) else f"_{byte:02x}" for byte in part.encode()
    )


def _plain(part: str) -> str:
    data = _WRITTEN.sub(lambda found: chr(int(found[1], 16)), part).encode("latin-1", "replace")
    return data.decode(errors="replace")


def _revision(config: ConfigMap, text: str) -> int:
    revision, _, check = config.data.get(REVISION, "").partition(" ")
    is_ours = check == _sum(text) and _number(revision) > 0
    return _number(revision) if is_ours else _version_number(config.version)


def _version_number(version: str) -> int:
    """Return a version as a number that is never zero; servers may write others than numbers."""
    return _number(version) or zlib.crc32(version.encode()) + 1


def _number(text: str) -> int:
    is_one = text.isascii() and text.isdecimal() and len(text) <= _DIGITS_MAX
    return int(text) if is_one else 0


def _sum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"
