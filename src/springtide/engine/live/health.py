"""Whether the devices that a node registers are there: what its kubelet counts and its plugin answers.

Scheduler and plugin overwrite the handshake in turn: the scheduler writes when it asks, and a plugin
that is alive overwrites that. A request that nobody has answered for a while is a sign of death only
where the kubelet counts no devices either. Plugins that never answer are judged by that count: where
devices have vanished they stay away until they are counted again or a newer registration is written.

The request is left standing where devices are taken away. So a process that starts later comes to the
same conclusion, and devices do not come back for a while each time somebody asks anew.
"""

from datetime import UTC, datetime
from typing import Final

import msgspec

from springtide.engine.placement.family import Registration
from springtide.model.node import Node
from springtide.model.resources import lookup

REQUESTING: Final = "Requesting"
_FORMAT: Final = "%Y-%m-%d %H:%M:%S"


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of one kind of device on one node.

    `is_in` says that its devices are used, `has_vanished` that they were counted once and are not any more.
    """

    count: int = 0
    registered: str | None = None
    is_in: bool = False
    has_vanished: bool = False


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """The judgement: what to remember, whether to ask the plugin, and when time alone may change it."""

    seen: Seen
    asks: bool = False
    until_s: float | None = None


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the handshake says: alive, and whether something new was said since it was asked."""

    is_alive: bool
    is_new: bool = False
    until_s: float | None = None


def judged(
    kind: Registration, node: Node, seen: Seen, *, now_s: float, timeout_s: float, offset_s: int = 0
) -> Judged:
    """Return whether the devices of this kind are in use on this node now.

    `offset_s` is local time's from UTC, in which handshakes are written.
    """
    quantity = lookup(node.allocatable, kind.count)
    count = 0 if quantity is None else quantity.value()
    asked = node.annotations.get(kind.handshake, "")
    answer = _answered(asked, count, now_s=now_s, timeout_s=timeout_s, offset_s=offset_s)
    registered = node.annotations.get(kind.annotations[0])
    if kind.is_counted:
        after = _counted(seen, answer, count=count, registered=registered)
    else:
        after = Seen(registered=registered, is_in=_is_in(seen, answer))
    # kube-scheduler may have heard of devices that are back before us, and tried its pods in vain: to be
    # asked for is a change of the node that lets it try them again.
    is_back = after.is_in and not seen.is_in and seen.registered is not None
    asks = (answer.is_new or is_back) and registered is not None and not after.has_vanished
    return Judged(seen=after, asks=asks, until_s=answer.until_s if after.is_in else None)


def request(now_s: float, *, offset_s: int) -> str:
    """Return what the scheduler writes to ask a plugin whether it is there."""
    return f"{REQUESTING}_{datetime.fromtimestamp(int(now_s) + offset_s, UTC).strftime(_FORMAT)}"


def _answered(asked: str, count: int, *, now_s: float, timeout_s: float, offset_s: int) -> _Answer:
    if REQUESTING not in asked:
        return _Answer(is_alive=True, is_new=True)
    asked_s = _asked_s(asked, offset_s)
    if asked_s is None or count > 0:
        return _Answer(is_alive=True)
    is_waiting = now_s < asked_s + timeout_s
    return _Answer(is_alive=is_waiting, until_s=asked_s + timeout_s if is_waiting else None)


def _asked_s(asked: str, offset_s: int) -> float | None:
    """Return when a plugin was asked, None if nobody can read it: then it counts as alive."""
    _, separator, text = asked.partition("_")
    if not separator:
        return None
    try:
        moment = datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None
    return moment.timestamp() - offset_s


def _is_in(seen: Seen, answer: _Answer) -> bool:
    return answer.is_alive and (seen.is_in or answer.is_new)


def _counted(seen: Seen, answer: _Answer, *, count: int, registered: str | None) -> Seen:
    if count:
        return Seen(count=count, registered=registered, is_in=True)
    is_same = seen.registered == registered
    has_vanished = bool(seen.count) or (seen.has_vanished and is_same)
    if has_vanished:
        return Seen(registered=registered, has_vanished=True)
    is_new = answer.is_new or seen.has_vanished
    is_in = answer.is_alive and (seen.is_in or is_new)
    return Seen(registered=registered, is_in=is_in)
