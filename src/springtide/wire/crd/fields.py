"""Fields of our stored documents: what they mean, and what the API server can refuse by itself.

Descriptions and limits are for the definition that is generated from the records. The records do not
enforce the limits: what reads them does, in words that name the remedy, and refuses the same.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

INT32_MAX: Final = 2**31 - 1
"""More no device plugin can register."""
NAME_CHARS_MAX: Final = 253
DEVICES_MAX: Final = 1024
ENTRIES_MAX: Final = 64
SHAPES_MAX: Final = 64
PLACEMENTS_MAX: Final = 64
MISMATCHES_MAX: Final = 32
"""So many nodes are told by name in a status; the others are counted."""

Rule = Mapping[str, str]


def told(description: str, *rules: Rule, **limits: Any) -> msgspec.Meta:
    """Return what a field means and must be, for those who ask the API server."""
    extra = {name: limit for name, limit in limits.items() if limit is not None}
    if rules:
        extra["x-kubernetes-validations"] = [dict(each) for each in rules]
    return msgspec.Meta(description=description, extra_json_schema=extra or None)


def rule(expression: str, message: str, *, field: str = "") -> Rule:
    """Return a rule over several fields in CEL, with the sentence for whoever breaks it."""
    found = {"rule": expression, "message": message}
    return found | {"fieldPath": f".{field}"} if field else found


def size(description: str, *, least: int = 0) -> msgspec.Meta:
    """Return what is told of a number that counts or measures something."""
    return told(description, minimum=least, maximum=INT32_MAX)
