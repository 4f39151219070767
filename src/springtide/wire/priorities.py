"""The priorities of node groups as Cluster Autoscaler's priority expander takes them.

A text that maps each priority to patterns of group names, kept under the key `priorities` of the
ConfigMap `cluster-autoscaler-priority-expander`. Of a priority that stands twice the last one counts.
"""

import re
from collections.abc import Mapping
from typing import Final

from springtide.model.group import PriorityRules
from springtide.wire import yaml
from springtide.wire.errors import MalformedDocument, MalformedObject

CONFIG_MAP: Final = "cluster-autoscaler-priority-expander"
KEY: Final = "priorities"
FIELD: Final = f'data["{KEY}"]'
_SHAPE: Final = "write a map of priorities to lists of patterns, as in `10: [spot-.*]`."


def text_of(config_map: Mapping[str, object]) -> str | None:
    """Return the text of priorities that a ConfigMap has, None if it is not the one for them."""
    metadata, data = config_map.get("metadata"), config_map.get("data")
    if not isinstance(metadata, dict) or metadata.get("name") != CONFIG_MAP:
        return None
    text = data.get(KEY) if isinstance(data, dict) else None
    return text if isinstance(text, str) else None


def read(text: str) -> PriorityRules:
    """Return the rules that a text states, or raise MalformedObject."""
    try:
        found = yaml.documents(text.encode(), "", repeated=[])
    except MalformedDocument as fault:
        raise MalformedObject(FIELD, f"line {fault.line}: {fault.reason}") from fault
    value = found[0].value if found else {}
    if not isinstance(value, dict):
        raise MalformedObject(FIELD, f"it is no map; {_SHAPE}")
    return PriorityRules(tuple(_rule(key, each) for key, each in value.items()))


def _rule(key: str, value: object) -> tuple[int, tuple[str, ...]]:
    try:
        priority = int(key)
    except ValueError:
        reason = f"{key!r} is no priority, which is a whole number; {_SHAPE}"
        raise MalformedObject(FIELD, reason) from None
    patterns = [] if value is None else value
    if not isinstance(patterns, list) or not all(isinstance(each, str) for each in patterns):
        raise MalformedObject(FIELD, f"priority {priority} has no list of patterns; {_SHAPE}")
    for pattern in patterns:
        try:
            re.compile(pattern)
        except re.error as fault:
            reason = f"{pattern!r} is not a regular expression: {fault}; correct the pattern."
            raise MalformedObject(FIELD, reason) from fault
    return priority, tuple(patterns)
