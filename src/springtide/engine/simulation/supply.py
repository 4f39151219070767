"""Where the devices of a node that was sent come from (simulation contract §3), one family at a time.

A registration on the node; else the device profile that the node names, or the only one that selects
it; else nothing is known, and the reason says so. A registration is taken as that of a node that has just
come up: what a copied node has of its own (device ids, health, cordons) is reset, unless it is to be
kept. Nodes that differ in nothing else have the identical devices.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Final

import msgspec

from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.unregistered import unregistered
from springtide.engine.simulation.homogeneity import as_new
from springtide.engine.simulation.memo import Memo
from springtide.engine.simulation.profiled import PROFILE_ANNOTATION, profile_of, promised
from springtide.model.device import Inventory
from springtide.model.node import Node
from springtide.model.profile import DeviceProfile
from springtide.model.refusal import Refusal

ANY_NODE: Final = "\ue000"
"""Stands in ids for the name of the node, so that the devices of equal nodes are the same."""
KINDS_MAX: Final = 4_096
"""Kinds of devices that are told apart by more than ids, health and cordons."""

Found = tuple[tuple[str, Inventory | Refusal], ...]
"""What is known of each family: its devices, or why they are not known."""

Texts = tuple[tuple[str, str], ...]
"""The annotations of a node that say which devices it has."""

Part = Callable[[str], tuple[tuple[str, ...], tuple[str, ...]]]
"""Parts a registration into the ids of its devices and all the rest, for those that differ in ids only."""

_STABLE: Final = attrgetter(
    "index", "slots", "memory_mib", "cores", "type", "numa", "mode", "mig_profiles", "network"
)


class Supply(msgspec.Struct, frozen=True, cache_hash=True):
    """The devices of one node; `ids` are those that it registers, with what they are called here."""

    found: Found
    ids: tuple[tuple[str, str], ...] = ()


class _Kind(msgspec.Struct, frozen=True):
    """The devices of nodes whose registrations differ in ids only: without ids, and what they are called.

    Where ids do not tell how registrations differ, there is no `supply`.
    """

    supply: Supply | None = None
    own_ids: tuple[str, ...] = ()


class Supplier:
    """Finds the devices of nodes.

    Nodes whose labels do not match `node_selector` are not looked after by the live scheduler, so they
    register nothing here either. With `keeps_dynamic` a registration is trusted as it stands. `part`
    spares reading registrations that differ from one that was read in their ids only.
    """

    def __init__(
        self,
        families: Mapping[str, DeviceFamily],
        profiles: Sequence[DeviceProfile] = (),
        *,
        node_selector: Mapping[str, str] | None = None,
        keeps_dynamic: bool = False,
        part: Part | None = None,
    ) -> None:
        self._families = families
        self._profiles = tuple(profiles)
        self._selector = dict(node_selector or {})
        self._keeps_dynamic = keeps_dynamic
        self._part = None if keeps_dynamic else part
        self._alike: Memo[object, _Kind] = Memo(weight_max=KINDS_MAX)
        self._unregistered = {name: unregistered(name) for name in families}
        self._kinds: Memo[object, Inventory] = Memo(weight_max=KINDS_MAX)
        self._labels = frozenset(self._selector) | {
            each.key for profile in self._profiles for each in profile.selector.requirements
        }
        self._annotations = frozenset(
            {
                PROFILE_ANNOTATION,
                *(
                    name
                    for family in families.values()
                    for registration in family.registrations()
                    for name in registration.annotations
                ),
            }
        )

    @property
    def annotations(self) -> frozenset[str]:
        """Return the annotations of nodes that say what devices they have."""
        return self._annotations

    @property
    def reads_labels(self) -> bool:
        """Return whether any label of a node says what devices it has."""
        return bool(self._labels)

    def labels(self, node: Node) -> tuple[str | None, ...]:
        """Return those labels of a node that say what devices it has."""
        return tuple([node.labels.get(key) for key in self._labels])

    def supply(self, node: Node, texts: Texts, *, with_ids: bool = True) -> Supply:
        """Return the devices of a node, whose annotations about them are `texts`.

        Nobody needs the ids unless somebody stands on the node.
        """
        if self._part is None or len(texts) != 1:
            return self._read(node)
        name, text = texts[0]
        rest, ids = self._part(text)
        if len(set(ids)) != len(ids):
            return self._read(node)
        kind = self._kind(node, (name, rest, self.labels(node)), ids)
        if kind.supply is None:
            return self._read(node)
        if not with_ids:
            return kind.supply
        return Supply(kind.supply.found, tuple(zip(ids, kind.own_ids, strict=True)))

    def _kind(self, node: Node, key: object, ids: tuple[str, ...]) -> _Kind:
        known = self._alike.get(key)
        if known is None:
            read = self._read(node)
            # The text may name ids elsewhere, too: such registrations are read every time.
            is_told = tuple([registered for registered, _ in read.ids]) == ids
            own_ids = tuple([own for _, own in read.ids])
            known = _Kind(Supply(read.found), own_ids) if is_told else _Kind()
            self._alike.put(key, known, weight=1)
        return known

    def _read(self, node: Node) -> Supply:
        found: list[tuple[str, Inventory | Refusal]] = []
        ids: list[tuple[str, str]] = []
        is_selected = all(node.labels.get(key) == value for key, value in self._selector.items())
        for name, family in self._families.items():
            registered = family.inventory(node) if is_selected else None
            answer = registered
            if isinstance(registered, Inventory):
                answer = self._own(registered)
                ids += _renamings(registered, answer)
            elif registered is None and is_selected:
                answer = self._promised(name, node)
            found.append((name, answer or self._unregistered[name]))
        return Supply(tuple(found), tuple(ids))

    def _promised(self, family: str, node: Node) -> Inventory | Refusal | None:
        answer = promised(family, profile_of(node, self._profiles))
        return self._as_new(answer) if isinstance(answer, Inventory) else answer

    def _own(self, registered: Inventory) -> Inventory:
        return registered if self._keeps_dynamic else self._as_new(registered)

    def _as_new(self, inventory: Inventory) -> Inventory:
        key = inventory.family, *_stable(inventory)
        known = self._kinds.get(key)
        if known is None:
            made = Inventory(inventory.family, as_new(ANY_NODE, inventory))
            known = self._kinds.put(key, made, weight=1)
        return known


def _stable(inventory: Inventory) -> tuple[object, ...]:
    """Return what parts devices, once their ids, health and cordons are reset."""
    devices = inventory.devices
    stable = tuple(map(_STABLE, devices))
    places = {device.id: position for position, device in enumerate(devices)}
    if len(places) == len(devices) and not any(device.links for device in devices):
        return (stable,)
    repeats = tuple(places[device.id] for device in devices)
    links = tuple(
        tuple(sorted((places[other], score) for other, score in device.links if other in places))
        for device in devices
    )
    return stable, repeats, links


def _renamings(registered: Inventory, own: Inventory) -> list[tuple[str, str]]:
    if registered is own:
        return []
    return [(one.id, other.id) for one, other in zip(registered.devices, own.devices, strict=True)]
