"""The scale of a workload, whatever its kind, and where a StatefulSet begins to count."""

from typing import Final

import msgspec

from springtide.model.scale import Scale
from springtide.wire.k8s.parts import decoded


class _Replicas(msgspec.Struct, frozen=True):
    replicas: int = 0


class _Scale(msgspec.Struct, frozen=True):
    spec: _Replicas = _Replicas()
    status: _Replicas = _Replicas()


class _Ordinals(msgspec.Struct, frozen=True):
    start: int = 0


class _SetSpec(msgspec.Struct, frozen=True):
    ordinals: _Ordinals = _Ordinals()


class _StatefulSet(msgspec.Struct, frozen=True):
    spec: _SetSpec = _SetSpec()


_SCALE: Final = msgspec.json.Decoder(_Scale)
_STATEFUL_SET: Final = msgspec.json.Decoder(_StatefulSet)


def decode_scale(data: bytes | msgspec.Raw) -> Scale:
    """Read a Scale object, or raise MalformedObject."""
    read = decoded(data, _SCALE)
    return Scale(wanted=read.spec.replicas, current=read.status.replicas)


def decode_ordinals_start(data: bytes | msgspec.Raw) -> int:
    """Return the first ordinal of a StatefulSet, or raise MalformedObject."""
    return decoded(data, _STATEFUL_SET).spec.ordinals.start
