"""Bodies that real programs send, kept byte for byte for those who serve them.

A test that plays the same again holds the recorded body to what is sent today: every field and its type,
not the values. SPRINGTIDE_REGENERATE=1 records anew.
"""

import json
import os
from pathlib import Path
from typing import Any, Final

RECORDED: Final = Path(__file__).parent.parent / "recorded" / "kube-extender-calls"
FREE: Final = frozenset({"annotations", "labels", "managedFields"})


def is_as_recorded(body: bytes, name: str) -> None:
    """Fail if a body has another form than the recorded one of this name."""
    path = RECORDED / f"{name}.json"
    if os.environ.get("SPRINGTIDE_REGENERATE"):
        path.write_bytes(body)
    assert form(json.loads(body)) == form(json.loads(path.read_bytes()))


def form(value: Any) -> Any:
    """Return a value with types for values, and items of a list that are alike only once.

    What stands in maps with free keys depends on which controllers have been there by then.
    """
    match value:
        case dict():
            return {
                key: type(each).__name__ if key in FREE else form(each)
                for key, each in sorted(value.items())
            }
        case list():
            forms = [form(each) for each in value]
            return [each for at, each in enumerate(forms) if each not in forms[:at]]
        case _:
            return type(value).__name__
