"""Checks behind probes: whether all hold, and the text about it; `?verbose` lists them."""

from collections.abc import Iterable

import msgspec

from springtide.edge.serving.replies import Reply
from springtide.edge.serving.routes import Asked
from springtide.wire.openapi import TEXT


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check; `why` says what is amiss."""

    name: str
    why: str = ""

    @property
    def holds(self) -> bool:
        """Return whether it is as it should be."""
        return not self.why


def told(checks: Iterable[Check], name: str, *, is_verbose: bool) -> tuple[bool, str]:
    """Return whether all hold, and the text about it, as the API server words its own."""
    listed = tuple(checks)
    is_good = all(each.holds for each in listed)
    if is_good and not is_verbose:
        return True, "ok"
    lines = [
        f"[+]{each.name} ok" if each.holds else f"[-]{each.name} failed: {each.why}"
        for each in listed
    ]
    end = f"{name} check {'passed' if is_good else 'failed'}"
    return is_good, "\n".join((*lines, end, ""))


def probe(checks: Iterable[Check], name: str, asked: Asked) -> Reply:
    """Return the answer to a probe."""
    is_good, text = told(checks, name, is_verbose="verbose" in asked.query)
    return Reply(body=text.encode(), status=200 if is_good else 503, content_type=TEXT)
