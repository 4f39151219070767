"""In which order the devices of a node are tried, by policy.

Devices are arranged ascending and tried from the last one, so "last" is preferred. The order is
stable: devices that a policy cannot tell apart keep their registration order.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

import msgspec

MUTEX: Final = "mutex"
TOPOLOGY_AWARE: Final = "topology-aware"
SPREAD: Final = "spread"
BINPACK: Final = "binpack"
NUMA: Final = "numa"

_CHAIN: Final = (BINPACK, SPREAD, NUMA)

Key = Literal["score", "-score", "numa", "-numa", "-slots", "index", "-rank"]


class Standings(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy looks at, device by device: score, NUMA node, used slots and registered index.

    `rank` is given by a policy that is not the family's own, empty where there is none.
    """

    score: Sequence[float]
    numa: Sequence[int]
    slots: Sequence[int]
    index: Sequence[int]
    rank: Sequence[int] = ()


@lru_cache(maxsize=256)
def has_token(policy: str, token: str) -> bool:
    """Return whether a policy, a comma-separated list, contains this token."""
    return policy == token or any(item.strip() == token for item in policy.split(","))


@lru_cache(maxsize=256)
def sort_keys(policy: str, *, numa_bind: bool) -> tuple[Key, ...]:
    """Return what devices are compared by, the most important first."""
    if "," in policy or policy == NUMA:
        return _chained(policy, numa_bind=numa_bind)
    if policy == MUTEX:
        return ("-slots", "numa")
    if policy == BINPACK:
        return ("-numa", "score") if numa_bind else ("score", "numa")
    return ("numa", "-score") if numa_bind else ("-score", "numa")


@lru_cache(maxsize=256)
def ranked_keys(*, numa_bind: bool) -> tuple[Key, ...]:
    """Return what devices are compared by that have ranks: equal ones by how full they are."""
    return ("-numa", "-rank", "score") if numa_bind else ("-rank", "score", "numa")


def arranged(standings: Standings, keys: Sequence[Key]) -> list[int]:
    """Return the positions ascending under these keys, equal ones in their given order."""
    ranks = list(zip(*[_column(key, standings) for key in keys], strict=True))
    return sorted(range(len(ranks)), key=ranks.__getitem__)


def _chained(policy: str, *, numa_bind: bool) -> tuple[Key, ...]:
    tokens = [token for item in policy.split(",") if (token := item.strip()) in _CHAIN]
    chain = list(dict.fromkeys(tokens)) or [SPREAD]
    if numa_bind and chain[0] != NUMA:
        chain = [NUMA, *(token for token in chain if token != NUMA)]
    names: dict[str, Key] = {BINPACK: "score", SPREAD: "-score", NUMA: "numa"}
    return (*(names[token] for token in chain), "index")


def _column(key: Key, standings: Standings) -> Sequence[float]:
    if key.startswith("-"):
        return [-value for value in getattr(standings, key[1:])]
    values: Sequence[float] = getattr(standings, key)
    return values
