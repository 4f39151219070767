"""Which nodes are told together: node groups, nodes with one value of a label, or equal devices."""

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from springtide.base.errors import SpringtideError
from springtide.base.nearest import nearest
from springtide.engine.placement.family import Rows
from springtide.engine.simulation.templates import members
from springtide.model.columns import Interner
from springtide.model.group import NodeGroup
from springtide.model.ledger import Ledger

GROUP: Final = "group"
DEVICES: Final = "devices"
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
NO_GROUP: Final = "(no group)"
NO_LABEL: Final = "(no label)"
NO_DEVICES: Final = "(no devices)"


class UnknownLabel(SpringtideError):
    """A label that no node has cannot tell them apart."""

    def __init__(self, label: str, known: Sequence[str]) -> None:
        longer = (name for name in known if name.endswith(f"/{label}"))
        close = next(longer, None) or nearest(label, known)
        offer = f" Did you mean {close}?" if close else " Name a label of the nodes."
        super().__init__(f"--by {label}: no node has this label.{offer}")


class Pools(msgspec.Struct, frozen=True, kw_only=True):
    """The pools by name, and each row's; `by` says what tells them apart."""

    by: str
    names: tuple[str, ...]
    of_row: Rows


def pools(ledger: Ledger, groups: Sequence[NodeGroup], *, by: str = "") -> Pools:
    """Return the pools: by the label that is asked for, or else by the best that nodes have.

    Raises `UnknownLabel` for one that no node has.
    """
    if by == GROUP or (not by and groups):
        return _named(GROUP, _groups(ledger, groups))
    labelled = any(INSTANCE_TYPE in node.labels for node in ledger.nodes)
    if by == DEVICES or (not by and not labelled):
        return _named(DEVICES, [_types(ledger, row) for row in range(ledger.count)])
    label = by or INSTANCE_TYPE
    known = {key for node in ledger.nodes for key in node.labels}
    if ledger.count and label not in known:
        raise UnknownLabel(label, (GROUP, DEVICES, *sorted(known)))
    return _named(label, [node.labels.get(label, NO_LABEL) for node in ledger.nodes])


def _named(by: str, name_of_row: Sequence[str]) -> Pools:
    names: Interner[str] = Interner()
    of_row = np.array([names.code(name) for name in name_of_row], np.intp)
    return Pools(by=by, names=tuple(names.values), of_row=of_row)


def _groups(ledger: Ledger, groups: Sequence[NodeGroup]) -> list[str]:
    owners: dict[str, str] = {}
    for group in groups:
        for node in members(group, ledger.nodes):
            owners.setdefault(node.name, group.name)
    return [owners.get(node.name, NO_GROUP) for node in ledger.nodes]


def _types(ledger: Ledger, row: int) -> str:
    found = [
        device.type or columns.family
        for columns in ledger.devices.values()
        if (inventory := columns.inventory_at(row)) is not None
        for device in inventory.devices
    ]
    return " + ".join(sorted(set(found))) or NO_DEVICES
