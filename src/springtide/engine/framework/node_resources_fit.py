"""NodeResourcesFit: what the pod asks must be free, and every shortage is told.

A shortage is unresolvable where the pod asks more than the node has in all. The number of pods is a
resource like the others, of which every pod asks one, but a node without room for a pod is always
worth an eviction.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from springtide.base.names import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, is_extended_resource
from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.requests import is_counted, pod_requests
from springtide.engine.framework.rule import Bits, Outcome, Prepared, Reads, Ready, Selection
from springtide.model.columns import Bool, Int64, ResourceColumns
from springtide.model.ledger import Ledger

NATIVE_ORDER: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)
TOO_MANY_PODS: Final = "Too many pods"
BITS: Final = 64
_NOTHING: Final = np.iinfo(np.int64).min
_PODS_ROW: Final = 0


class NodeResourcesFit:
    """The NodeResourcesFit plugin of kube-scheduler."""

    name = "NodeResourcesFit"
    reads = Reads.USAGE

    def __init__(
        self,
        ignored_resources: frozenset[str] = frozenset(),
        ignored_groups: frozenset[str] = frozenset(),
        delegated: frozenset[str] = frozenset(),
    ) -> None:
        """Leave the resources that are delegated to claims, where a node does not offer them itself."""
        self._ignored_resources = ignored_resources
        self._ignored_groups = ignored_groups
        self._delegated = delegated

    def prepare(self, ask: PodAsk, ledger: Ledger) -> Prepared:
        """Collect the amounts that count, in the order in which shortages are told."""
        asked = pod_requests(ask.spec)
        native = (name for name in NATIVE_ORDER if name in asked)
        scalar = sorted(name for name in asked if name not in NATIVE_ORDER)
        counted = (name for name in (*native, *scalar) if asked[name] > 0 and self.counts(name))
        return Ready(
            _Asked([(PODS, 1), *((name, asked[name]) for name in counted)], self._delegated)
        )

    def counts(self, name: str) -> bool:
        """Return whether a shortage of this resource keeps pods away; `pods` always does."""
        return name == PODS or (is_counted(name) and not self._is_ignored(name))

    def _is_ignored(self, name: str) -> bool:
        # kube-scheduler ignores extended resources only, whatever its configuration lists.
        return is_extended_resource(name) and (
            name in self._ignored_resources or name.partition("/")[0] in self._ignored_groups
        )


class _Asked:
    def __init__(self, amounts: list[tuple[str, int]], delegated: frozenset[str]) -> None:
        self._amounts = amounts
        self._delegated = delegated & {name for name, _ in amounts}
        self._wanted: Int64 | None = None
        self._lasting: Int64 = np.zeros((0, 1), np.int64)
        self._bits: Bits = np.zeros((0, 1), np.uint64)

    def evaluate(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        resources = ledger.resources
        if self._wanted is None:
            self._wanted = self._listed(resources)
        if self._wanted is None:
            return self._one_by_one(ledger, selected)
        height = len(self._wanted)
        have = selected.of(resources.allocatable[:height])
        short = have - selected.of(resources.used[:height]) < self._wanted
        if not np.count_nonzero(short):
            return None
        # What is short of all that a node has is short of what is left of it, too.
        lasting = have < self._lasting
        detail = np.add.reduce(short * self._bits, axis=0)
        return Outcome(
            refused=detail != 0,
            unresolvable=np.logical_or.reduce(lasting, axis=0),
            detail=detail,
        )

    def _listed(self, resources: ResourceColumns) -> Int64 | None:
        """Return the amounts as a column beside the ledger's first ones, if all have their rows.

        What is not asked is never short.
        """
        known = [resources.known(name) for name, _ in self._amounts]
        indices = [index for index in known if index is not None]
        if len(indices) < len(known) or len(known) > BITS or self._delegated:
            return None
        height = max(indices) + 1
        wanted = np.full((height, 1), _NOTHING, np.int64)
        self._bits = np.zeros((height, 1), np.uint64)
        for bit, (index, (_, amount)) in enumerate(zip(indices, self._amounts, strict=True)):
            wanted[index], self._bits[index] = amount, 1 << bit
        self._lasting = wanted.copy()
        self._lasting[_PODS_ROW] = _NOTHING
        return wanted

    def _one_by_one(self, ledger: Ledger, selected: Selection) -> Outcome | None:
        shortages = _Shortages(len(selected.rows))
        resources, cells = ledger.resources, selected.cells
        for bit, (name, wanted) in enumerate(self._amounts):
            index = resources.known(name)
            is_delegated = name in self._delegated
            if index is None and is_delegated:
                continue
            if index is None:
                shortages.add_everywhere(bit)
                continue
            have = resources.allocatable[index][cells]
            short: Bool = have - resources.used[index][cells] < wanted
            if is_delegated:
                short &= have > 0
            if np.count_nonzero(short):
                shortages.add(bit, short, short & (have < wanted) if name != PODS else None)
        return shortages.outcome

    def reasons(self, detail: int) -> tuple[str, ...]:
        told = zip(range(BITS), self._amounts, strict=False)
        return tuple(_reason(name) for bit, (name, _) in told if detail >> bit & 1)


class _Shortages:
    """Shortages of one resource after the other, as bits of the rows."""

    def __init__(self, rows: int) -> None:
        self._octets: dict[int, npt.NDArray[np.uint8]] = {}
        self._unresolvable: Bool = np.zeros(rows, np.bool_)

    def add(self, bit: int, short: Bool, unresolvable: Bool | None) -> None:
        """Note where a resource is short, and where evicting pods could not help."""
        # Beyond the last bit, a shortage is told under the name that has it.
        octet, weight = divmod(min(bit, BITS - 1), 8)
        weighted = short.view(np.uint8) * np.uint8(1 << weight)
        known = self._octets.get(octet)
        self._octets[octet] = weighted if known is None else known | weighted
        if unresolvable is not None:
            self._unresolvable |= unresolvable

    def add_everywhere(self, bit: int) -> None:
        """Note that nobody has any of a resource, which no node and no pod has named yet."""
        everywhere: Bool = np.ones(len(self._unresolvable), np.bool_)
        self.add(bit, everywhere, everywhere)

    @property
    def outcome(self) -> Outcome | None:
        """Return the verdict, None if nothing is short."""
        if not self._octets:
            return None
        detail = np.zeros(len(self._unresolvable), np.uint64)
        for octet, weighted in self._octets.items():
            detail |= weighted.astype(np.uint64) << np.uint64(8 * octet)
        return Outcome(refused=detail != 0, unresolvable=self._unresolvable, detail=detail)


def _reason(name: str) -> str:
    return TOO_MANY_PODS if name == PODS else f"Insufficient {name}"
