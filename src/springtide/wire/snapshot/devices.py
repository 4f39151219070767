"""Annotations: those that decide something, with other names inside and otherwise as they are.

What device plugins write there are small formats of their own; ids of devices are changed in place,
and everything that can be counted stays. Annotations that nobody reads are left out.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from springtide.wire.snapshot.names import Names
from springtide.wire.snapshot.words import is_api_word, is_value

Rewrite = Callable[[str, Names], str]

_IDS: Final = frozenset({"id", "uuid", "UUID", "gpuUUID", "migUUID"})
# What a device is called by its maker, and how it is cut.
_OF_MODELS: Final = frozenset({"type", "mode", "profile", "name", "devicevendor", "temp"})
_TOKEN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_OF_DEVICES: Final = r"(?:[a-z0-9-]+\.)*(?:hami\.io|nvidia\.com|huawei\.com)/.*"


def rewritten(annotations: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Return the annotations that decide something."""
    kept = {}
    for key, value in annotations.items():
        rewrite = _rule(key)
        if rewrite is not None:
            kept[key] = rewrite(value, names) if isinstance(value, str) else value
    return kept


def _rule(key: str) -> Rewrite | None:
    for pattern, rewrite in _RULES:
        if pattern.fullmatch(key):
            return rewrite
    return None


def _as_it_is(text: str, _: Names) -> str:
    return text


def _name(text: str, names: Names) -> str:
    return text if is_value(text) and text not in names.known else names.name(text)


def _ids(text: str, names: Names) -> str:
    """Rewrite ids that are separated by commas; blanks around them stay."""
    return ",".join(
        part.replace(part.strip(), names.device(part.strip())) if part.strip() else part
        for part in text.split(",")
    )


def _records(text: str, names: Names) -> str:
    """Rewrite records of a device each: JSON, or fields of which the first is its id."""
    if text.lstrip().startswith(("[", "{")):
        return _json(text, names)
    return ";".join(
        ":".join(_record(part, names) for part in segment.split(":")) for segment in text.split(";")
    )


def _record(text: str, names: Names) -> str:
    first, comma, rest = text.partition(",")
    # Without fields it is no record; whoever reads it will say so.
    return names.device(first) + comma + rest if comma else _word(text, names)


def _json(text: str, names: Names) -> str:
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        # It stays as unreadable as it is, with other words.
        return _tokens(text, names)
    return msgspec.json.encode(_plain(value, "", names)).decode()


def _plain(value: Any, field: str, names: Names) -> Any:
    if isinstance(value, dict):
        if field.lower() == "custominfo":
            return {}
        changed = names.device if field == "score" else str
        return {changed(key): _plain(each, key, names) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, field, names) for each in value]
    if not isinstance(value, str) or field.lower() in _OF_MODELS:
        return value
    return names.device(value) if field in _IDS else _word(value, names)


def _words(text: str, names: Names) -> str:
    """Rewrite a text of which only that is known: it is about devices."""
    if text.lstrip().startswith(("[", "{")):
        return _json(text, names)
    return _tokens(text, names)


def _tokens(text: str, names: Names) -> str:
    return _TOKEN.sub(lambda found: _word(found[0], names), text)


def _word(word: str, names: Names) -> str:
    is_kept = word not in names.known and (is_value(word) or is_api_word(word))
    return word if is_kept else names.name(word)


_RULES: Final[tuple[tuple[re.Pattern[str], Rewrite], ...]] = tuple(
    (re.compile(pattern), rewrite)
    for pattern, rewrite in (
        (r"hami\.io/vgpu-node", _name),
        (r".+/node-.*(register|score).*", _records),
        (r".+(devices-allocated|devices-to-allocate|-allocations)", _records),
        (r".+/(use|nouse|no-use)-.*(uuid|UUID)", _ids),
        (r"hami\.io/device-cordon", _ids),
        (r".+/(use|nouse|no-use)-.*type", _as_it_is),
        (_OF_DEVICES, _words),
        (r"springtide\.io/.*", _name),
        (r"cluster-autoscaler\.kubernetes\.io/.*", _name),
        (
            r"volume(\.beta)?\.kubernetes\.io/(storage-class|selected-node|storage-provisioner)",
            _name,
        ),
        (r"pv\.kubernetes\.io/bind-completed|pv\.kubernetes\.io/bound-by-controller", _as_it_is),
        (r"pv\.kubernetes\.io/provisioned-by", _name),
        (r"storage\.alpha\.kubernetes\.io/migrated-plugins", _as_it_is),
        (r"kubernetes\.io/config\.(mirror|source)", _name),
        (r"(scheduling\.)?(k8s\.io|x-k8s\.io|volcano\.sh)/.*", _name),
    )
)
