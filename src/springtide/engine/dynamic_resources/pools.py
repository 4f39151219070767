"""Pools of devices, put together from slices, and what a node sees of them.

Only slices of a pool's newest generation count. A pool is incomplete while slices of it are missing,
and then nothing can be said about all its devices. It is invalid if its slices contradict each other.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.base.selectors import any_term_matches
from springtide.base.taints import Taint
from springtide.model.device_facts import DeviceFacts
from springtide.model.device_slices import (
    CounterSet,
    NodeScope,
    OfferedDevice,
    PoolName,
    ResourceSlice,
    TaintRule,
)
from springtide.model.device_usage import DeviceId
from springtide.model.node import Node

NOWHERE: Final = NodeScope()


class Candidate(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One device of a pool; `position` counts the devices of the pool."""

    id: DeviceId
    pool: PoolName
    position: int
    device: OfferedDevice
    facts: DeviceFacts
    scope: NodeScope
    is_per_device: bool = False

    @property
    def text(self) -> str:
        """Return `driver/pool/device`."""
        return "/".join(self.id)


class Pool(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """The newest generation of a pool. `fault` says why it is invalid, empty if it is not.

    `parts` are the devices slice by slice, each with the scope that all its devices have, None where
    each device has its own. `counters` hold what its devices share, in nano units.
    """

    name: PoolName
    parts: tuple[tuple[NodeScope | None, tuple[Candidate, ...]], ...]
    is_incomplete: bool = False
    fault: str = ""
    counters: dict[str, dict[str, int]] = {}
    needs_binding: bool = False

    @property
    def candidates(self) -> Iterable[Candidate]:
        """Yield all devices."""
        return (each for _, part in self.parts for each in part)

    @property
    def only_node(self) -> str:
        """Return the only node that can reach the pool, empty if there may be several."""
        names = {scope.node_name if scope is not None else "" for scope, _ in self.parts}
        return names.pop() if len(names) == 1 else ""


class PoolView(msgspec.Struct, frozen=True, eq=False):
    """What one node sees of a pool: devices, each with whether the node itself can reach it."""

    pool: Pool
    devices: tuple[tuple[Candidate, bool], ...]


def pools_of(slices: Iterable[ResourceSlice], rules: Sequence[TaintRule] = ()) -> list[Pool]:
    """Return the pools that the slices make up, in the order in which they are searched."""
    newest: dict[PoolName, list[ResourceSlice]] = {}
    for each in slices:
        known = newest.setdefault(each.pool_name, [])
        if known and each.generation > known[0].generation:
            known.clear()
        if not known or each.generation == known[0].generation:
            known.append(each)
    pools = [_pool(name, parts, rules) for name, parts in newest.items()]
    return sorted(pools, key=search_order)


def search_order(pool: Pool) -> tuple[bool, str]:
    """Return what pools are searched by: those that are ready at once come first."""
    return pool.needs_binding, pool.name.text


def view(pool: Pool, node: Node, *, name: str = "") -> PoolView | None:
    """Return what a node of this name sees of the pool, None if that is nothing."""
    name = name or node.name
    devices: list[tuple[Candidate, bool]] = []
    for scope, part in pool.parts:
        if scope is not None:
            if reaches(scope, node, name=name):
                devices.extend((each, True) for each in part)
            continue
        reachable = [reaches(each.scope, node, name=name) for each in part]
        if any(reachable):
            devices.extend(zip(part, reachable, strict=True))
    return PoolView(pool, tuple(devices)) if devices else None


def reaches(scope: NodeScope, node: Node, *, name: str) -> bool:
    """Return whether the node is in the scope."""
    if scope.node_name:
        return scope.node_name == name
    if scope.is_everywhere:
        return True
    return scope.terms is not None and any_term_matches(scope.terms, node.labels, name=name)


def _pool(name: PoolName, slices: Sequence[ResourceSlice], rules: Sequence[TaintRule]) -> Pool:
    parts: list[tuple[NodeScope | None, tuple[Candidate, ...]]] = []
    position = 0
    for each in slices:
        scope = None if each.is_per_device else each.scope or NOWHERE
        part = tuple(
            _candidate(name, position + index, device, scope, rules)
            for index, device in enumerate(each.devices)
        )
        position += len(part)
        parts.append((scope, part))
    counters = [counted for each in slices for counted in each.shared_counters]
    return Pool(
        name=name,
        parts=tuple(parts),
        is_incomplete=len(slices) != slices[0].slice_count,
        fault=_fault(slices, counters),
        counters={
            counted.name: {counter: amount.nano for counter, amount in counted.counters}
            for counted in counters
        },
        needs_binding=any(device.binding_conditions for each in slices for device in each.devices),
    )


def _candidate(
    name: PoolName,
    position: int,
    device: OfferedDevice,
    scope: NodeScope | None,
    rules: Sequence[TaintRule],
) -> Candidate:
    added = tuple(rule.taint for rule in rules if _concerns(rule, name, device.name))
    return Candidate(
        id=(name.driver, name.pool, device.name),
        pool=name,
        position=position,
        device=_tainted(device, added),
        facts=facts_of(name.driver, device),
        scope=scope if scope is not None else device.scope or NOWHERE,
        is_per_device=scope is None,
    )


def facts_of(driver: str, device: OfferedDevice) -> DeviceFacts:
    """Return the device as selectors see it."""
    return DeviceFacts(
        driver=driver,
        attributes=dict(device.attributes),
        capacity={_full(each.name, driver): each.value for each in device.capacity},
        allows_multiple=device.allows_multiple,
    )


def _full(name: str, driver: str) -> str:
    return name if "/" in name else f"{driver}/{name}"


def _concerns(rule: TaintRule, name: PoolName, device: str) -> bool:
    return (
        rule.driver in {None, name.driver}
        and rule.pool in {None, name.pool}
        and rule.device in {None, device}
    )


def _tainted(device: OfferedDevice, added: tuple[Taint, ...]) -> OfferedDevice:
    return replace(device, taints=(*device.taints, *added)) if added else device


def _fault(slices: Sequence[ResourceSlice], counters: Sequence[CounterSet]) -> str:
    """Return why the slices make no sense together, empty if they do."""
    names = [device.name for each in slices for device in each.devices]
    if len(set(names)) < len(names):
        return "two devices have the same name"
    sets = {each.name: {counter for counter, _ in each.counters} for each in counters}
    if len(sets) < len(counters):
        return "two counter sets have the same name"
    consumed = (use for each in slices for device in each.devices for use in device.consumes)
    for use in consumed:
        if use.name not in sets:
            return f"there is no counter set {use.name}"
        if any(counter not in sets[use.name] for counter, _ in use.counters):
            return f"a counter of the set {use.name} does not exist"
    return ""
