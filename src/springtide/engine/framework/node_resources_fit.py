"""NodeResourcesFit: what the pod asks must be free, and every shortage is told.

A shortage is unresolvable where the pod asks more than the node has in all. The number of pods is a
resource like the others, of which every pod asks one, but a node without room for a pod is always
worth an eviction.
"""

from typing import Final

import numpy as np

from springtide.base.names import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, is_extended_resource
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.requests import is_counted, pod_requests
from springtide.engine.framework.rule import Bits, Outcome, Prepared, Reads, Ready, Rows
from springtide.model.columns import Bool, Int64
from springtide.model.ledger import Ledger

NATIVE_ORDER: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)
TOO_MANY_PODS: Final = "Too many pods"
BITS: Final = 64


class NodeResourcesFit:
    """The NodeResourcesFit plugin of kube-scheduler."""

    name = "NodeResourcesFit"
    reads = Reads.USAGE

    def __init__(
        self,
        ignored_resources: frozenset[str] = frozenset(),
        ignored_groups: frozenset[str] = frozenset(),
    ) -> None:
        self._ignored_resources = ignored_resources
        self._ignored_groups = ignored_groups

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Collect the amounts that count, in the order in which shortages are told."""
        asked = pod_requests(ask.spec)
        native = (name for name in NATIVE_ORDER if name in asked)
        scalar = sorted(name for name in asked if name not in NATIVE_ORDER)
        counted = (name for name in (*native, *scalar) if asked[name] > 0 and self.counts(name))
        return Ready(_Asked([(PODS, 1), *((name, asked[name]) for name in counted)]))

    def counts(self, name: str) -> bool:
        """Return whether a shortage of this resource keeps pods away; `pods` always does."""
        return name == PODS or (is_counted(name) and not self._is_ignored(name))

    def _is_ignored(self, name: str) -> bool:
        # kube-scheduler ignores extended resources only, whatever its configuration lists.
        return is_extended_resource(name) and (
            name in self._ignored_resources or name.partition("/")[0] in self._ignored_groups
        )


class _Asked:
    def __init__(self, amounts: list[tuple[str, int]]) -> None:
        self._names = [name for name, _ in amounts]
        self._wanted: Int64 = np.array([[count] for _, count in amounts], np.int64)

    def evaluate(self, ledger: Ledger, rows: Rows) -> Outcome | None:
        have, free = self._gathered(ledger, rows)
        short: Bool = self._wanted > free
        if not short.any():
            return None
        short_for_good = short[1:] & (self._wanted[1:] > have[1:])
        detail = _as_bits(short)
        return Outcome(
            refused=detail != 0,
            unresolvable=np.logical_or.reduce(short_for_good, axis=0),
            detail=detail,
        )

    def reasons(self, detail: int) -> tuple[str, ...]:
        told = zip(range(BITS), self._names, strict=False)
        return tuple(_reason(name) for index, name in told if detail >> index & 1)

    def _gathered(self, ledger: Ledger, rows: Rows) -> tuple[Int64, Int64]:
        """Return what the rows have of each resource and what is free of it."""
        resources = ledger.resources
        indices = [resources.known(name) for name in self._names]
        lines = np.array([0 if index is None else index for index in indices])
        cells = lines[:, None] * resources.allocatable.shape[1] + rows
        have: Int64 = resources.allocatable.take(cells)
        free: Int64 = have - resources.used.take(cells)
        if None in indices:
            # Nobody has any of a resource that no node and no pod has named yet.
            unheard = [index is None for index in indices]
            have[unheard] = free[unheard] = 0
        return have, free


def _reason(name: str) -> str:
    return TOO_MANY_PODS if name == PODS else f"Insufficient {name}"


def _as_bits(short: Bool) -> Bits:
    if len(short) > BITS:
        # The last bit tells a shortage of any further resource by the name of the first of them.
        rest = np.logical_or.reduce(short[BITS - 1 :], axis=0, keepdims=True)
        short = np.concatenate([short[: BITS - 1], rest])
    detail: Bits = np.zeros(short.shape[1], np.uint64)
    for first in range(0, len(short), 8):
        packed = np.packbits(short[first : first + 8], axis=0, bitorder="little")[0]
        detail |= packed.astype(np.uint64) << np.uint64(first)
    return detail
