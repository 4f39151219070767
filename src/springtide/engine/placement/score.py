"""Scores of devices in 32-bit floats, and the weights that a pod may give them.

HAMi computes in IEEE single precision and orders devices by the result, so the last digit decides
between cards; `model.device_load` says how that is done exactly.
"""

import re
from functools import lru_cache
from typing import Final

import msgspec

from springtide.model.device_load import SCALE, single, singles

_CACHE_ENTRIES: Final = 65536

_KEYS: Final = ("slot", "core", "memory")
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,30}")
_INT64_MAX: Final = 2**63 - 1


class Weights(msgspec.Struct, frozen=True, kw_only=True, gc=False, cache_hash=True):
    """How much slots, cores and memory count in a device's score."""

    slot: int = 1
    core: int = 1
    memory: int = 1


EVEN: Final = Weights()


class Load(msgspec.Struct, frozen=True, gc=False):
    """How much of a device (or of all devices of a node) is used, out of how much."""

    slots_used: int
    slots: int
    cores_used: int
    cores: int
    memory_used_mib: int
    memory_mib: int


@lru_cache(maxsize=_CACHE_ENTRIES)
def load_score(load: Load, weights: Weights = EVEN) -> float:
    """Return ten times the weighted sum of the used parts; 0 if anything has no capacity."""
    if not (load.slots and load.cores and load.memory_mib):
        return 0.0
    slots, cores, memory = singles(load.slots_used, load.cores_used, load.memory_used_mib)
    of_slots, of_cores, of_memory = singles(load.slots, load.cores, load.memory_mib)
    slots, cores, memory = singles(slots / of_slots, cores / of_cores, memory / of_memory)
    if weights != EVEN:
        slots, cores = weights.slot * slots, weights.core * cores
        slots, cores, memory = singles(slots, cores, weights.memory * memory)
    return single(SCALE * single(single(slots + cores) + memory))


@lru_cache(maxsize=1024)
def parse_weights(value: str) -> Weights | str:
    """Return the weights that an annotation gives, or what is wrong with them."""
    parts = [part.strip() for part in value.split(",")]
    if len(parts) != len(_KEYS):
        return "expected slot, core, and memory weights"
    weights: dict[str, int] = {}
    for part in parts:
        problem = _read_weight(part, weights)
        if problem:
            return problem
    if not any(weights.values()):
        return "at least one weight must be positive"
    return Weights(**weights)


def _read_weight(part: str, weights: dict[str, int]) -> str:
    """Read one `key=value` into the weights; return what is wrong with it, or nothing."""
    key, equals, text = (piece.strip() for piece in part.partition("="))
    if not equals:
        return "expected key=value entries"
    if key in weights:
        return f'duplicate "{key}" weight'
    number = int(text) if _INTEGER.fullmatch(text) else None
    if number is None or not -_INT64_MAX - 1 <= number <= _INT64_MAX:
        return f'"{key}" weight must be an integer'
    if number < 0:
        return f'"{key}" weight must not be negative'
    if key not in _KEYS:
        return f'unknown weight "{key}"'
    weights[key] = number
    return ""
