"""What there would be and what would be in use of each resource, row by row, with the pod there.

A resource that a node has none of does not count there. One that is counted by its name counts only
for pods that ask for it.
"""

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np

from springtide.base.names import CPU, MEMORY, is_scalar_resource
from springtide.engine.framework.rule import Selection
from springtide.model.columns import Int64
from springtide.model.ledger import Ledger
from springtide.model.plugin_arguments import ResourceSpec
from springtide.model.resources import Amounts


class Amount(msgspec.Struct, frozen=True, kw_only=True):
    """One resource on the selected rows, before the pod comes, and what the pod adds."""

    there: Int64
    used: Int64
    asked: int
    weight: int


def real_amounts(
    resources: Iterable[ResourceSpec], asked: Amounts, ledger: Ledger, selected: Selection
) -> Iterator[Amount]:
    """Yield the resources in order, of pods that state too little as little as they state."""
    columns, cells = ledger.resources, selected.cells
    for each in resources:
        wanted = asked.get(each.name, 0)
        index = columns.known(each.name)
        if index is None or (not wanted and is_scalar_resource(each.name)):
            continue
        yield Amount(
            there=columns.allocatable[index][cells],
            used=columns.used[index][cells],
            asked=wanted,
            weight=each.weight,
        )


def assumed_amounts(
    resources: Iterable[ResourceSpec], asked: Amounts, ledger: Ledger, selected: Selection
) -> Iterator[Amount]:
    """Yield the resources in order, with what pods are taken to use that state too little."""
    for each in resources:
        for amount in real_amounts([each], asked, ledger, selected):
            line = _UNSTATED.get(each.name)
            if line is None:
                yield amount
            else:
                used = amount.used + ledger.unstated[line][selected.cells]
                yield msgspec.structs.replace(amount, used=used)


_UNSTATED = {CPU: 0, MEMORY: 1}


def or_one(there: Int64) -> Int64:
    """Return the amounts to divide by: one where there is nothing, which nobody looks at."""
    return np.maximum(there, 1)
