"""Ascend's annotations as records and back: registration of nodes, allocations of pods.

Every kind of chip has keys of its own; together they are one inventory and one allocation. What
cannot be read is a refusal, never a smaller node and never "holds nothing".
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import structs

from springtide.engine.placement.family import Registration
from springtide.engine.placement.unregistered import malformed, unreadable
from springtide.model.device import Allocation, Device, Grant, Inventory
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.vendors.ascend.ask import request_of
from springtide.vendors.ascend.config import FAMILY_NAME, SOFT, AscendConfig, Chip
from springtide.wire.hami import Malformed, containers, register
from springtide.wire.hami.allocations import fell_back, realigned, without_ended_init

REGISTER: Final = "hami.io/node-register-{word}"
TO_ALLOCATE: Final = "hami.io/{word}-devices-to-allocate"
ALLOCATED: Final = "hami.io/{word}-devices-allocated"
CUT: Final = "huawei.com/{word}"
"""On a pod: how the chips of its containers are to be cut."""

CHOSEN_AT: Final = "predicate-time"
"""On a pod: when its chips were chosen, in Unix seconds."""

HANDSHAKE: Final = "hami.io/node-handshake-{word}"
SOFT_SPLIT: Final = "hami-vnpu-core"
"""On a node: whether it supports the soft split, over what the configuration says."""

Grants = tuple[Grant, ...]


def inventory_of(node: Node, config: AscendConfig) -> Inventory | Refusal | None:
    """Return the chips that the node registers; a Refusal if malformed, None if there are none."""
    devices: list[Device] = []
    for key, _ in _named(REGISTER, node.annotations, config):
        try:
            devices += register.decode(node.annotations[key])
        except Malformed as fault:
            return malformed(FAMILY_NAME, f"{key}: {fault}")
    if not devices:
        return None
    mode = SOFT if _has_soft_split(node, config) else ""
    return Inventory(FAMILY_NAME, tuple(structs.replace(device, mode=mode) for device in devices))


def encode(allocation: Allocation, config: AscendConfig) -> dict[str, str]:
    """Return the pod annotations that the device plugin reads."""
    annotations: dict[str, str] = {}
    given = {grant.type for grants in allocation.containers for grant in grants}
    for word in (chip.word for chip in config.chips if chip.word in given):
        own = [
            [grant for grant in grants if grant.type == word] for grants in allocation.containers
        ]
        text = containers.encode(own)
        annotations[TO_ALLOCATE.format(word=word)] = text
        annotations[ALLOCATED.format(word=word)] = text
        annotations[CUT.format(word=word)] = _cut(own)
    return annotations


def decode(pod: Pod, config: AscendConfig) -> Allocation | Refusal | None:
    """Return what the pod holds; a Refusal if it cannot be read, None if nothing is written."""
    named = _named(ALLOCATED, pod.annotations, config)
    if not named or fell_back(pod):
        return None
    written: list[tuple[Grants, ...]] = []
    for key, chip in named:
        answer = _held(pod, key, chip)
        if isinstance(answer, Refusal):
            return answer
        written.append(answer)
    return Allocation(
        family=FAMILY_NAME,
        containers=without_ended_init(_merged(written), pod),
        init_count=len(pod.spec.init_containers),
    )


@lru_cache(maxsize=16)
def registrations_of(config: AscendConfig) -> tuple[Registration, ...]:
    """Return how nodes register each kind of chip."""
    return tuple(
        Registration(
            word=chip.word,
            annotations=(REGISTER.format(word=chip.word), SOFT_SPLIT),
            handshake=HANDSHAKE.format(word=chip.word),
            count=chip.count_name,
        )
        for chip in config.chips
    )


@lru_cache(maxsize=16)
def written(config: AscendConfig) -> frozenset[str]:
    """Return the annotations of pods that the scheduler writes."""
    patterns = (TO_ALLOCATE, ALLOCATED, CUT)
    own = {pattern.format(word=chip.word) for pattern in patterns for chip in config.chips}
    return frozenset({CHOSEN_AT, *own})


def _named(
    pattern: str, annotations: Mapping[str, str], config: AscendConfig
) -> list[tuple[str, Chip]]:
    """Return the kinds of chip that the annotations tell of, each with its key."""
    if not annotations:
        return []
    return [(key, chip) for key, chip in _keys(pattern, config) if key in annotations]


@lru_cache(maxsize=64)
def _keys(pattern: str, config: AscendConfig) -> tuple[tuple[str, Chip], ...]:
    return tuple((pattern.format(word=chip.word), chip) for chip in config.chips)


def _has_soft_split(node: Node, config: AscendConfig) -> bool:
    said = node.annotations.get(SOFT_SPLIT)
    return config.has_soft_split if said is None else said == "true"


class _Piece(msgspec.Struct, frozen=True, omit_defaults=True):
    """One chip as it is to be cut, in the device plugin's words."""

    device_id: str = msgspec.field(name="UUID", default="")
    template: str = msgspec.field(name="temp", default="")
    memory_mib: int = msgspec.field(name="memory", default=0)
    cores: int = msgspec.field(name="core", default=0)


def _cut(allocated: Sequence[Sequence[Grant]]) -> str:
    pieces = [
        _Piece(grant.device_id, grant.profile, grant.memory_mib, grant.cores)
        for grants in allocated
        for grant in grants
    ]
    return msgspec.json.encode(pieces).decode()


def _held(pod: Pod, key: str, chip: Chip) -> tuple[Grants, ...] | Refusal:
    try:
        granted = containers.entries(pod.annotations[key])
    except Malformed as fault:
        return unreadable(FAMILY_NAME, pod, f"{key}: {fault}")
    specs = (*pod.spec.init_containers, *pod.spec.containers)
    is_asking = [request_of(container, chip, pod) is not None for container in specs]
    return realigned(granted, is_asking)


def _merged(written: Sequence[tuple[Grants, ...]]) -> tuple[Grants, ...]:
    """Return per container the grants of all kinds of chip."""
    length = max(len(granted) for granted in written)
    merged: list[Grants] = [()] * length
    for granted in written:
        for position, grants in enumerate(granted):
            merged[position] += grants
    return tuple(merged)
