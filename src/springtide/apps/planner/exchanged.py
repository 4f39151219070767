"""What went to extenders and came back, told without what may be secret.

Bodies are those of kube-scheduler's own calls, pods whole: values of environment variables and of
probes' headers, commands and arguments are left out, because passwords stand there.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from springtide.base.telling import Level, Tell
from springtide.edge.http import HttpFault

LEFT_OUT: Final = "(left out)"
NOT_JSON: Final = "(not JSON)"
SECRET_FIELDS: Final = frozenset({"args", "command"})
VALUED_FIELDS: Final = frozenset({"env", "httpHeaders"})
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def tell_calls(
    tell: Tell,
    url: str,
    bodies: Sequence[bytes],
    outcomes: Sequence[bytes | HttpFault],
    *,
    took_s: float,
) -> None:
    """Tell each call of one round, and from a higher level on its bodies."""
    if not tell.hears(Level.REQUEST):
        return
    for body, outcome in zip(bodies, outcomes, strict=True):
        tell(
            Level.REQUEST,
            "extender_called",
            url=without_password(url),
            sent_bytes=len(body),
            answer=f"{len(outcome)} bytes" if isinstance(outcome, bytes) else _words(outcome, url),
            round_seconds=round(took_s, 3),
        )
        if tell.hears(Level.BODY):
            tell(Level.BODY, "extender_request", body=shown(body))
            if isinstance(outcome, bytes):
                tell(Level.BODY, "extender_answer", body=shown(outcome))


def shown(body: bytes) -> str:
    """Return a body for people to read, without what may be secret."""
    try:
        return msgspec.json.encode(_shown(msgspec.json.decode(body))).decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # What cannot be taken apart may hold anything.
        return NOT_JSON


def without_password(url: str) -> str:
    """Return the address without user and password."""
    scheme, divider, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{divider}{authority.rpartition('@')[2]}{slash}{path}"


def _words(fault: HttpFault, url: str) -> str:
    return str(fault).replace(url, without_password(url))


def _shown(value: Any) -> Any:
    match value:
        case dict():
            return {name: _field(name, inner) for name, inner in value.items()}
        case list():
            return [_shown(each) for each in value]
        case _:
            return value


def _field(name: str, value: Any) -> Any:
    if name == LAST_APPLIED or (name in SECRET_FIELDS and value):
        return LEFT_OUT
    if name in VALUED_FIELDS and isinstance(value, list):
        return [_variable(each) for each in value]
    return _shown(value)


def _variable(each: Any) -> Any:
    if isinstance(each, dict) and "value" in each:
        return {**each, "value": LEFT_OUT}
    return each
