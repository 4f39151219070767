"""What the live scheduler goes by, as nodes and pods that say it themselves.

A node registers what is used of it, whatever its plugin last wrote; a pod says what is held for it, whether
that is written on it yet or not. Who reads these knows what the scheduler knows.
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from springtide.base.annotations import BIND_PHASE, NODE, RESERVED_AT
from springtide.engine.live.live import Live
from springtide.engine.live.stock import Kept, Known
from springtide.engine.live.tracking import Reservation
from springtide.engine.placement.family import DeviceFamily, Registration
from springtide.model.node import Node
from springtide.model.pod import Pod


def node_as_used(known: Known, families: Mapping[str, DeviceFamily]) -> Node:
    """Return a node that registers those of its devices that are used."""
    node = known.node
    changes: dict[str, str | None] = {}
    for family in families.values():
        for kind in family.registrations():
            kept = known.kinds.get(kind.word)
            if kept is not None:
                changes |= _registered(kept, kind)
    told = {name: text for name, text in changes.items() if node.annotations.get(name) != text}
    return replace(node, annotations=_changed(node.annotations, told)) if told else node


def _registered(kept: Kept, kind: Registration) -> dict[str, str | None]:
    if kept.inventory is not None:
        return dict(zip(kind.annotations, kept.texts, strict=True))
    return {} if kept.fault else dict.fromkeys(kind.annotations)


def pods_as_held(live: Live, *, apart_from: Iterable[str] = ()) -> dict[str, Pod]:
    """Return the waiting pods that say something else than what is held for them, as they should be.

    Those apart wait for a node, whatever is held for them since an attempt that has failed.
    """
    excepted = set(apart_from)
    tracking, found = live.tracking, {}
    for uid, pod in tracking.waiting.items():
        reserved = tracking.reservations.get(uid)
        if reserved is not None and (uid not in excepted or reserved.is_binding):
            found[uid] = _held(live, pod, reserved)
        elif NODE in pod.annotations and uid not in live.holders:
            found[uid] = replace(pod, annotations=_changed(pod.annotations, {NODE: None}))
    return found


def _held(live: Live, pod: Pod, reserved: Reservation) -> Pod:
    held = live.holders.get(pod.uid)
    notes: dict[str, str | None] = {
        NODE: reserved.node,
        RESERVED_AT: str(reserved.stamp),
        BIND_PHASE: None,
    }
    for each in () if held is None else held.allocations:
        notes |= live.families[each.family].encode(each, at_s=reserved.stamp)
    # What was said of an earlier attempt must not be read as that nothing is held.
    return replace(pod, annotations=_changed(pod.annotations, notes), scheduled_reason="")


def _changed(before: Mapping[str, str], notes: Mapping[str, str | None]) -> dict[str, str]:
    return {name: text for name, text in {**before, **notes}.items() if text is not None}
