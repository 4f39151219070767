"""What a replay of HAMi's recordings has to know about one family beyond the family itself.

Which flags and configuration set it up, under which words HAMi keeps its devices and in which
annotations they are registered, which of the webhook's denials are its own, and what it writes.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, Protocol

import msgspec
import yaml

from springtide.engine.placement.family import DeviceFamily
from springtide.vendors import ascend, nvidia
from springtide.vendors.ascend import codec as ascend_codec
from springtide.vendors.nvidia import codec as nvidia_codec
from springtide.wire.hami import keys

Json = Mapping[str, Any]


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """One family set up as a scenario has it.

    `registers` names by HAMi's word, in HAMi's order, the annotation that registers its devices and
    the resource whose number says that they are there; `handshakes` are the annotations by which a
    plugin reports, `is_reread_on_report` whether HAMi then reads the node again. `texts` are the annotations of a pod that
    say container by container what it holds, `documents` those in JSON. `at_once` is the node
    annotation that counts at once. `has_mode` says whether a registered mode is kept as it is,
    `groups_by_chance` whether HAMi chooses by chance between equal groups of devices.
    """

    family: DeviceFamily
    registers: Mapping[str, tuple[str, str]]
    handshakes: tuple[str, ...]
    is_reread_on_report: bool
    is_own_denial: Callable[[str], bool]
    texts: frozenset[str]
    documents: frozenset[str]
    at_once: str
    has_mode: bool
    groups_by_chance: bool


class MakeKind(Protocol):
    """Sets a family up as a configuration and flags have it."""

    def __call__(self, config: str, flags: Json, /, *, is_strict: bool) -> Kind:
        """Return the family."""
        ...


def kinds_of(vendor: str, config: str, flags: Json, *, is_strict: bool = False) -> tuple[Kind, ...]:
    """Return the families of a recording, by the word that its scenario ids begin with."""
    makers = [_KINDS[vendor]] if vendor in _KINDS else _KINDS.values()
    return tuple(make(config, flags, is_strict=is_strict) for make in makers)


def _nvidia(config: str, flags: Json, *, is_strict: bool) -> Kind:
    read = nvidia.config_from(_document(config))
    register = (nvidia_codec.REGISTER, read.count_name)
    return Kind(
        family=nvidia.Nvidia(read, **_policies(flags), is_strict=is_strict),
        registers={nvidia.FAMILY.name: register},
        handshakes=("hami.io/node-handshake",),
        is_reread_on_report=False,
        is_own_denial=lambda message: message.startswith("invalid"),
        texts=frozenset({nvidia_codec.ALLOCATED, nvidia_codec.TO_ALLOCATE}),
        documents=frozenset({nvidia_codec.MIG_ALLOCATIONS}),
        at_once=keys.DEVICE_CORDON,
        has_mode=True,
        groups_by_chance=False,
    )


_ASCEND_DENIALS: Final = (
    " device request must be 1 or 2*n",
    " is only supported in hami-core",
    "vNPU not supported for multiple devices",
    " is invalid",
)


def _ascend(config: str, flags: Json, *, is_strict: bool) -> Kind:
    del is_strict
    read = ascend.config_from(_document(config))
    if not flags.get("enableAscend", True):
        read = ascend.AscendConfig()
    words = [chip.word for chip in read.chips]
    texts = (ascend_codec.ALLOCATED, ascend_codec.TO_ALLOCATE)
    return Kind(
        family=ascend.Ascend(read, **_policies(flags)),
        registers={
            chip.word: (ascend_codec.REGISTER.format(word=chip.word), chip.count_name)
            for chip in read.chips
        },
        handshakes=tuple(f"hami.io/node-handshake-{word}" for word in words),
        is_reread_on_report=True,
        is_own_denial=lambda message: any(part in message for part in _ASCEND_DENIALS),
        texts=frozenset(key.format(word=word) for word in words for key in texts),
        documents=frozenset(ascend_codec.CUT.format(word=word) for word in words),
        at_once=ascend_codec.SOFT_SPLIT,
        has_mode=False,
        groups_by_chance=True,
    )


def _policies(flags: Json) -> dict[str, str]:
    return {
        "node_policy": flags.get("nodeSchedulerPolicy", "binpack"),
        "device_policy": flags.get("gpuSchedulerPolicy", "spread"),
    }


@cache
def _document(text: str) -> dict[str, object]:
    document: dict[str, object] = json.loads(json.dumps(yaml.safe_load(text)))
    return document


_KINDS: Final[Mapping[str, MakeKind]] = {"nvidia": _nvidia, "ascend": _ascend}
