"""The objects of all sources that decide something about scheduling, as plain data, one after the other.

Lists are taken apart. Kinds that decide nothing are counted and left out, Secrets among them; of a
ConfigMap only the entries stay that hold a configuration that a plan reads.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from springtide.wire import kubescheduler, yaml
from springtide.wire.configurations import embedded, is_device_config
from springtide.wire.errors import MalformedDocument
from springtide.wire.json_faults import end_of_first, malformed_json
from springtide.wire.k8s.kinds import group_of, reads
from springtide.wire.k8s.resources import RESOURCES
from springtide.wire.ours import GROUP, KINDS
from springtide.wire.source import Source
from springtide.wire.text import is_json, next_document, utf8

Object: TypeAlias = dict[str, Any]

NO_KIND: Final = "objects without a kind"
_KEPT: Final = {(each.group, each.kind) for each in RESOURCES} - {("", "ConfigMap")}
_YAML_NAMES: Final = (".yaml", ".yml", ".yaml.gz", ".yml.gz")


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept, in the order of the input, and how many of which kinds are not."""

    objects: tuple[Object, ...]
    left_out: dict[str, int]


def found(sources: Sequence[Source]) -> Found:
    """Return the objects of all sources, or raise MalformedDocument."""
    left_out: Counter[str] = Counter()
    kept = []
    for source in sources:
        for value in _documents(source):
            for each in _items(value):
                chosen = _chosen(each)
                if chosen is None:
                    left_out[_kind(each) or NO_KIND] += 1
                else:
                    kept.append(chosen)
    return Found(objects=tuple(kept), left_out=dict(sorted(left_out.items())))


def _documents(source: Source) -> Iterator[object]:
    data = utf8(source.data)
    first_line = 1
    while data:
        if not is_json(data):
            yield from _yaml(data, source.name)
            return
        try:
            value, end = _json(data, source.name, first_line)
        except MalformedDocument:
            # A flow mapping starts like JSON.
            if not source.name.endswith(_YAML_NAMES):
                raise
            yield from _yaml(data, source.name)
            return
        yield value
        first_line += data.count(b"\n", 0, end)
        data = data[end:]


def _yaml(data: bytes, source: str) -> list[object]:
    return [each.value for each in yaml.documents(data, source)]


def _json(data: bytes, source: str, first_line: int) -> tuple[object, int]:
    """Return the first JSON text, and where the next one starts."""
    try:
        return msgspec.json.decode(data), len(data)
    except (msgspec.DecodeError, RecursionError) as fault:
        end = end_of_first(fault)
        start = None if end is None else next_document(data, end)
        if start is None:
            raise malformed_json(fault, data, source=source, first_line=first_line) from fault
        return msgspec.json.decode(data[:end]), start


def _items(value: object) -> Iterator[object]:
    """Yield the object, or those of the list that it is; those of a PodList carry no kind."""
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not _kind(value).endswith("List") or items is None:
        yield value
        return
    kind = _kind(value).removesuffix("List")
    assumed = {"apiVersion": value.get("apiVersion"), "kind": kind} if kind else {}
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict):
            yield from _items({**assumed, **item})


def _chosen(value: object) -> Object | None:
    """Return the object if it decides something, as far as it does."""
    if not isinstance(value, dict):
        return None
    kind, version = _kind(value), value.get("apiVersion")
    group = group_of(version) if isinstance(version, str) else ""
    if (group, kind) == ("", "ConfigMap"):
        return _configuration(value)
    is_ours = group == GROUP or (kind in KINDS and not version)
    is_scheduler = (group, kind) == (kubescheduler.GROUP, kubescheduler.KIND)
    is_known = (group, kind) in _KEPT or reads(group, kind)
    return value if is_ours or is_scheduler or is_known or is_device_config(value) else None


def _configuration(config_map: Object) -> Object | None:
    data = dict(embedded(config_map))
    kept = {key: value for key, value in config_map.items() if key not in {"data", "binaryData"}}
    return {**kept, "data": data} if data else None


def _kind(value: object) -> str:
    kind = value.get("kind") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""
