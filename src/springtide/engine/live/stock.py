"""What nodes have: their registered devices as far as these are there, and the locks on them.

A registration that cannot be read, or is missing for once, leaves in place what was registered before; a
list of no devices takes it away. A node that has had nothing before takes no pods of that family until its
registration can be read.
"""

from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from springtide.base.annotations import NODE_LOCK
from springtide.engine.live.health import Seen, judged, request
from springtide.engine.live.holders import Closures, Holders
from springtide.engine.live.settings import LiveSettings
from springtide.engine.placement.family import DeviceFamily, Registration
from springtide.model.device import Device, Inventory
from springtide.model.node import Node

Texts = tuple[str | None, ...]


class Kept(msgspec.Struct):
    """One kind of device on one node: its health, and what it registered when that was last readable."""

    seen: Seen = Seen()
    texts: Texts = ()
    inventory: Inventory | None = None
    fault: str = ""
    asked_s: float = float("-inf")


class Known(msgspec.Struct):
    """One node as it was last seen. `lock` is what is known of its lock, at this resource version."""

    node: Node
    kinds: dict[str, Kept]
    lock: str | None = None
    version: str = ""
    until_s: float | None = None
    inventories: Mapping[str, Inventory] = {}
    closed: Closures = ()


class Stock:
    """All nodes; whatever changes about their devices is told to those who hold them."""

    def __init__(
        self, families: Mapping[str, DeviceFamily], settings: LiveSettings, holders: Holders
    ) -> None:
        self._families = families
        self._settings = settings
        self._holders = holders
        self._nodes: dict[str, Known] = {}

    def __contains__(self, name: str) -> bool:
        """Return whether there is a node of this name."""
        return name in self._nodes

    def get(self, name: str) -> Known | None:
        """Return a node as it was last seen."""
        return self._nodes.get(name)

    def all(self) -> tuple[Known, ...]:
        """Return all nodes as they were last seen."""
        return tuple(self._nodes.values())

    def see(self, node: Node, *, version: str, now_s: float) -> dict[str, str | None]:
        """Take in a node as it is now, and return the annotations to write on it."""
        known = self._nodes.get(node.name)
        if known is None or known.node.uid != node.uid:
            known = self._nodes[node.name] = Known(node=node, kinds={})
        known.node = node
        if not _is_older(version, known.version):
            known.lock, known.version = node.annotations.get(NODE_LOCK), version
        return self.judge(known, now_s=now_s)

    def forget(self, name: str) -> None:
        """Forget a node that is gone."""
        if self._nodes.pop(name, None) is not None:
            self._holders.unseat(name)

    def overdue(self, now_s: float) -> tuple[Known, ...]:
        """Return the nodes that are to be judged again because time has passed."""
        return tuple(
            known
            for known in self._nodes.values()
            if known.until_s is not None and known.until_s <= now_s
        )

    def judge(self, known: Known, *, now_s: float) -> dict[str, str | None]:
        """Judge a node's devices anew, and return the annotations to write on it."""
        wanted: dict[str, str | None] = {}
        untils: list[float] = []
        for family, kind in self._kinds():
            verdict = self._judged(known, family, kind, now_s=now_s)
            if verdict is None:
                continue
            asks, until_s = verdict
            if asks:
                wanted[kind.handshake] = request(now_s, offset_s=self._settings.utc_offset_s)
            if until_s is not None:
                untils.append(until_s)
        known.until_s = min(untils, default=None)
        self._settle(known)
        return wanted

    def _kinds(self) -> Iterator[tuple[DeviceFamily, Registration]]:
        return (
            (family, kind) for family in self._families.values() for kind in family.registrations()
        )

    def _judged(
        self, known: Known, family: DeviceFamily, kind: Registration, *, now_s: float
    ) -> tuple[bool, float | None] | None:
        """Judge one kind of device, and return whether to ask its plugin, and until when this holds."""
        kept = known.kinds.get(kind.word)
        if kept is None:
            if kind.annotations[0] not in known.node.annotations:
                return None
            kept = known.kinds[kind.word] = Kept()
        settings = self._settings
        verdict = judged(
            kind,
            known.node,
            kept.seen,
            now_s=now_s,
            timeout_s=settings.handshake_timeout_s,
            offset_s=settings.utc_offset_s,
        )
        kept.seen = verdict.seen
        if verdict.seen.is_in and self._is_selected(known.node):
            _read(kept, family, kind, known.node)
        else:
            kept.texts, kept.inventory, kept.fault = (), None, ""
        if not verdict.seen.is_in:
            kept.asked_s = float("-inf")
        # A node that was asked a moment ago is not asked again before its informer tells so.
        asks = verdict.asks and now_s - kept.asked_s >= settings.handshake_again_s
        if asks:
            kept.asked_s = now_s
        return asks, verdict.until_s

    def _is_selected(self, node: Node) -> bool:
        return all(
            node.labels.get(key) == value for key, value in self._settings.node_selector.items()
        )

    def _settle(self, known: Known) -> None:
        """Tell those who hold devices what the node has, if that has changed."""
        inventories: dict[str, Inventory] = {}
        closed: list[tuple[str, str]] = []
        for name, family in self._families.items():
            kinds = [
                kept
                for kind in family.registrations()
                if (kept := known.kinds.get(kind.word)) is not None
            ]
            devices = tuple(_devices(kinds))
            if devices:
                inventories[name] = Inventory(name, devices)
            closed += [(name, kept.fault) for kept in kinds if kept.fault]
        if inventories != known.inventories or tuple(closed) != known.closed:
            known.inventories, known.closed = inventories, tuple(closed)
            self._holders.seat(known.node, inventories, known.closed)


def _devices(kinds: list[Kept]) -> Iterator[Device]:
    for kept in kinds:
        if kept.inventory is not None:
            yield from kept.inventory.devices


def _read(kept: Kept, family: DeviceFamily, kind: Registration, node: Node) -> None:
    """Read what a node registers of one kind of device, unless it is what was read before."""
    texts = tuple(node.annotations.get(name) for name in kind.annotations)
    if texts == kept.texts:
        return
    pairs = zip(kind.annotations, texts, strict=True)
    own = {name: text for name, text in pairs if text is not None}
    answer = family.inventory(replace(node, annotations=own))
    if isinstance(answer, Inventory):
        kept.texts, kept.inventory, kept.fault = texts, answer, ""
    elif answer is not None and kept.inventory is None:
        kept.fault = answer.text
    elif answer is None:
        kept.fault = ""
        # Where the kubelet counts the devices, a list of none is taken for a fault, as HAMi does.
        if texts[0] is not None and not kind.is_counted:
            kept.texts, kept.inventory = texts, None


def _is_older(version: str, known: str) -> bool:
    """Return whether what is told now was so before what is known already."""
    return version.isdecimal() and known.isdecimal() and int(version) < int(known)
