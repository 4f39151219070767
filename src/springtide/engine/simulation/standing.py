"""The pods that stand on a node, really or hypothetically, put on its empty devices one by one.

A pod that tells what it holds, in the annotations that the scheduler writes, holds that; one that does not
gets what the live scheduler would give it now. Where that cannot be said, the node takes no further pod of
the family: an unknown share must not look free.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.engine.placement.unregistered import impossible
from springtide.engine.simulation.judge import Fit, Judge
from springtide.engine.simulation.supply import ANY_NODE, Supply
from springtide.model.device import Allocation, DeviceView, Grant, Inventory, Share, empty_view
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

_OURS: Final = re.compile(r"template-.*-(?P<index>[0-9]+)")
"""Ids that a simulation gave to devices, of this node or of another copy of its template."""

Devices = dict[str, DeviceView | Refusal]


class Held(msgspec.Struct, frozen=True):
    """What one pod holds."""

    pod: Pod
    fit: Fit


class Shut(msgspec.Struct, frozen=True, kw_only=True):
    """Why a node takes no further pods of a family: what this pod holds is not known."""

    family: str
    uid: str
    why: str


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What is on a node, in order."""

    held: tuple[Held, ...] = ()
    shut: tuple[Shut, ...] = ()


NOBODY: Final = Standing()


def replayed(pods: Sequence[Pod], supply: Supply, judge: Judge) -> Standing:
    """Put pods on the empty node, one after the other."""
    devices: Devices = dict(fresh(supply))
    held: list[Held] = []
    shut: list[Shut] = []
    for pod in pods:
        answer = _held(pod, supply, devices, judge)
        if isinstance(answer, Refusal):
            shut.append(Shut(family=answer.rule, uid=pod.uid, why=answer.text))
            continue
        held.append(Held(pod, answer))
        for family, shares in answer.shares:
            view = devices[family]
            assert isinstance(view, DeviceView)
            devices[family] = view.plus(shares)
    return Standing(held=tuple(held), shut=tuple(shut))


def fresh(supply: Supply) -> tuple[tuple[str, DeviceView | Refusal], ...]:
    """Return the devices of a node on which nobody stands."""
    return tuple(
        (family, empty_view(each) if isinstance(each, Inventory) else each)
        for family, each in supply.found
    )


def used(supply: Supply, standing: Standing) -> tuple[tuple[str, DeviceView | Refusal], ...]:
    """Return the devices of a node with what is in use of them."""
    devices: Devices = dict(fresh(supply))
    for each in standing.held:
        for family, shares in each.fit.shares:
            view = devices[family]
            assert isinstance(view, DeviceView)
            devices[family] = view.plus(shares)
    for family in {each.family for each in standing.shut}:
        if not isinstance(devices[family], Refusal):
            whys = tuple(sorted({each.why for each in standing.shut if each.family == family}))
            devices[family] = Refusal(rule=family, reasons=whys)
    return tuple(devices.items())


def _held(pod: Pod, supply: Supply, devices: Devices, judge: Judge) -> Fit | Refusal:
    """Return what a pod holds, as it says or else as it would be placed."""
    given: list[Allocation] = []
    shares: list[tuple[str, tuple[Share, ...]]] = []
    is_said = False
    for name, family in judge.families.items():
        said = family.decode(pod)
        is_said |= said is not None
        view = devices[name]
        if said is None or isinstance(view, Refusal):
            continue
        if isinstance(said, Refusal):
            return replace(said, rule=name)
        own = _renamed(said, view.inventory, dict(supply.ids))
        given.append(own)
        shares.append((name, family.shares(own, view.inventory)))
    if is_said:
        return Fit(allocations=tuple(given), shares=tuple(shares))
    return _placed(pod, devices, judge)


def _placed(pod: Pod, devices: Devices, judge: Judge) -> Fit | Refusal:
    pod_class = judge.class_of(pod)
    answer = judge.answer(pod_class, devices.__getitem__)
    if not isinstance(answer, Refusal):
        return answer
    return impossible(answer.rule, pod, answer.text)


def _renamed(said: Allocation, inventory: Inventory, ids: dict[str, str]) -> Allocation:
    """Return an allocation in the ids by which the devices are known here."""
    own_ids = {device.id for device in inventory.devices}

    def known_as(device_id: str) -> str:
        if device_id in ids:
            return ids[device_id]
        ours = _OURS.fullmatch(device_id)
        known = "" if ours is None else f"template-{ANY_NODE}-{ours['index']}"
        return known if known in own_ids else device_id

    def own(grant: Grant) -> Grant:
        return replace(grant, device_id=known_as(grant.device_id))

    return replace(
        said,
        containers=tuple(tuple(map(own, grants)) for grants in said.containers),
        unclaimed=tuple((known_as(device_id), place) for device_id, place in said.unclaimed),
    )
