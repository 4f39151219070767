"""Who holds what: node resources, host ports and device shares, as columns with an identity.

The ledger keeps two views of one truth. `holdings` says who holds what (pod uid to `Holding`); the
columns say how much of every node and device is in use. Every mutation updates both and logs its
row. `check` recomputes the columns from the holdings and compares.

The ledger records facts, so it takes what it is told: a real cluster may be overcommitted.
Whoever places decides first whether something fits.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Final, TypeVar

import msgspec
import numpy as np

from springtide.base.taints import Taint
from springtide.model.changelog import ChangeLog
from springtide.model.columns import (
    Bool,
    Int32,
    Int64,
    Interner,
    ResourceColumns,
    grown,
)
from springtide.model.device import DeviceView, Inventory, Share
from springtide.model.device_columns import DeviceColumns
from springtide.model.device_usage import HeldClaims
from springtide.model.node import HOSTNAME_LABEL, Image, Node
from springtide.model.pod import HostPort
from springtide.model.presence import Presence, Presences
from springtide.model.quotas import Quotas
from springtide.model.resource_claims import HeldClaim
from springtide.model.resources import AmountList, amount_list
from springtide.model.volumes import DiskVolume

FIRST_ROWS = 64

NOBODY: Final = Node(name="")
"""The node of a vacant row: it has room for nothing."""

Unstated = tuple[int, int]
"""Thousandths of a core, and bytes."""


class Holding(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What one pod holds on one row: resource amounts (with its `pods: 1`), ports and shares.

    `claims` are those that it uses, as `namespace/name`, and `disks` those that it names itself.
    `presence` is what it shows to rules between pods; without one, it is not seen by them.
    `device_claims` are those whose devices are given with this placement.
    `unstated` is the cpu and memory that scores add where its containers state none.
    `charges` is what it counts for against the quota of its `namespace`, which has one then.
    """

    uid: str
    row: int
    amounts: tuple[tuple[str, int], ...] = ()
    ports: tuple[HostPort, ...] = ()
    shares: tuple[tuple[str, tuple[Share, ...]], ...] = ()
    claims: tuple[str, ...] = ()
    disks: tuple[DiskVolume, ...] = ()
    presence: Presence | None = None
    device_claims: tuple[HeldClaim, ...] = ()
    unstated: Unstated | None = None
    namespace: str = ""
    charges: AmountList = ()


class Ledger:
    """The state of a cluster's nodes and devices. Rows are never moved; the last one may go.

    `count` rows are in use; `born` is the change log's position at which a row got its node as it is,
    and `last_born` that of the last one. `vacant` rows have lost their node: nothing is there until
    they get another one. `named` counts the changes of who has which name.
    `names`, `nodes` and `hostnames` are by row, `ports`, `claims` and `disks` count what the pods
    on a row use, `claimed` counts the users of each claim on all rows; `labelset` codes a row's
    labels without its hostname, `taintset` its taints, `imageset` its images, so that rules judge
    each distinct set once. `unstated` sums up what scores add of cpu and memory.
    `hostname` codes its hostname, 0 where there is none. `namespaces` holds the labels of the
    cluster's namespaces; whoever makes the ledger sets it before anything is asked. `held_claims` are
    the claims of devices that came with holdings. `quotas` are those of the namespaces; whoever makes the
    ledger gives their limits before anything is held.
    """

    def __init__(self) -> None:
        self.count = 0
        self.rows: dict[str, int] = {}
        self.vacant: set[int] = set()
        self.named = 0
        self.names: list[str] = []
        self.nodes: list[Node] = []
        self.hostnames: list[str | None] = []
        self.born: Int64 = np.zeros(FIRST_ROWS, np.int64)
        self.last_born = 0
        self.unschedulable: Bool = np.zeros(FIRST_ROWS, np.bool_)
        self.taintset: Int32 = np.zeros(FIRST_ROWS, np.int32)
        self.labelset: Int32 = np.zeros(FIRST_ROWS, np.int32)
        self.imageset: Int32 = np.zeros(FIRST_ROWS, np.int32)
        self.unstated: Int64 = np.zeros((2, FIRST_ROWS), np.int64)
        self.hostname: Int32 = np.zeros(FIRST_ROWS, np.int32)
        self.known_hostnames: Interner[str | None] = Interner((None,))
        self.taintsets: Interner[tuple[Taint, ...]] = Interner()
        self.labelsets: Interner[tuple[tuple[str, str], ...]] = Interner()
        self.imagesets: Interner[tuple[Image, ...]] = Interner()
        self.resources = ResourceColumns(FIRST_ROWS)
        self.devices: dict[str, DeviceColumns] = {}
        self.ports: dict[int, dict[HostPort, int]] = {}
        self.claims: dict[int, dict[str, int]] = {}
        self.disks: dict[int, dict[DiskVolume, int]] = {}
        self.claimed: dict[str, int] = {}
        self.holdings: dict[str, Holding] = {}
        self.namespaces: Mapping[str, Mapping[str, str]] = {}
        self.presences = Presences(FIRST_ROWS)
        self.held_claims = HeldClaims()
        self.quotas = Quotas()
        self.changes = ChangeLog()
        self._namesakes: dict[int, int] = {}

    # Nodes

    def add_node(
        self, node: Node, inventories: Mapping[str, Inventory] | None = None, *, name: str = ""
    ) -> int:
        """Add a node (under another name, if one is given) and return its row.

        A row added under another name gets that name as its hostname too, as a new node would.
        """
        row = self._new_row()
        self.names.append("")
        self.nodes.append(NOBODY)
        self.hostnames.append(None)
        self._seat(row, node, inventories or {}, name=name)
        return row

    def renew_node(
        self,
        row: int,
        node: Node,
        inventories: Mapping[str, Inventory] | None = None,
        *,
        name: str = "",
    ) -> None:
        """Let a row be this node from now on, a vacant one too; nothing may be held on it.

        No other row may have had its name or have the new one.
        """
        self._unseat(row)
        assert (name or node.name) not in self.rows, name or node.name
        self._seat(row, node, inventories or {}, name=name)

    def vacate(self, row: int) -> None:
        """Take a row's node away, and leave the row for another one; nothing may be held on it."""
        assert row not in self.vacant, "the row has no node"
        self._unseat(row)
        self._seat(row, NOBODY, {})
        del self.rows[NOBODY.name]
        self.vacant.add(row)

    def given_name(self, row: int) -> str:
        """Return the name under which a row was added, empty if it is its node's own."""
        node, name = self.nodes[row], self.names[row]
        is_own = name == node.name and self.hostnames[row] == node.labels.get(HOSTNAME_LABEL)
        return "" if is_own else name

    def inventories_at(self, row: int) -> dict[str, Inventory]:
        """Return what devices a row has, by family."""
        found = ((name, columns.inventory_at(row)) for name, columns in self.devices.items())
        return {name: inventory for name, inventory in found if inventory is not None}

    def _seat(
        self, row: int, node: Node, inventories: Mapping[str, Inventory], *, name: str = ""
    ) -> None:
        label = node.labels.get(HOSTNAME_LABEL)
        earlier = self.rows.get(name or node.name)
        if earlier is not None:
            self._namesakes[row] = earlier
        self.rows[name or node.name] = row
        if self.names[row] != (name or node.name):
            self.named += 1
        self.names[row] = name or node.name
        self.nodes[row] = node
        self.hostnames[row] = name or label
        self.hostname[row] = self.known_hostnames.code(name or label)
        self.born[row] = self.last_born = self.changes.position
        self.unschedulable[row] = node.is_unschedulable
        self.taintset[row] = self.taintsets.code(node.taints)
        self.labelset[row] = self.labelsets.code(labels_without_hostname(node))
        self.imageset[row] = self.imagesets.code(node.images)
        self.resources.set_row(row, amount_list(node.allocatable))
        for family, inventory in inventories.items():
            self.device_columns(family).set_row(row, inventory)
        self.changes.append(row)

    def _unseat(self, row: int) -> None:
        """Take a row's node from its name, and its devices from the row."""
        self._assert_idle(row)
        if row in self.vacant:
            self.vacant.discard(row)
        else:
            assert row not in self._namesakes, "another row has this name too"
            assert row not in self._namesakes.values(), "another row has this name too"
            del self.rows[self.names[row]]
        for columns in self.devices.values():
            columns.set_row(row, None)

    def _assert_idle(self, row: int) -> None:
        assert not self.resources.used[:, row].any(), "something is held on the row"
        for columns in self.devices.values():
            assert not columns.used[:, row].any(), "devices are held on the row"

    def drop_last_node(self) -> None:
        """Take back the row that was added last; nothing may be held on it."""
        row = self.count - 1
        assert row not in self.vacant, "the row has no node"
        earlier = self._namesakes.pop(row, None)
        if earlier is None:
            del self.rows[self.names[row]]
        else:
            self.rows[self.names[row]] = earlier
        self.named += 1
        for per_row in (self.names, self.nodes, self.hostnames):
            per_row.pop()
        for columns in self.devices.values():
            columns.set_row(row, None)
        self.count = row
        self.changes.append(row)

    def device_columns(self, family: str) -> DeviceColumns:
        """Return the family's columns, created at first use."""
        columns = self.devices.get(family)
        if columns is None:
            columns = self.devices[family] = DeviceColumns(family, len(self.born))
        return columns

    def view(self, row: int, family: str) -> DeviceView | None:
        """Return one node's devices of a family and their use, or None if it has none."""
        columns = self.devices.get(family)
        return None if columns is None else columns.view(row)

    # Holdings

    def hold(self, holding: Holding) -> None:
        """Record what a pod holds; its uid must hold nothing yet."""
        assert holding.uid not in self.holdings, holding.uid
        self.holdings[holding.uid] = holding
        self._count(holding, sign=1)

    def hold_all(self, holdings: Sequence[Holding]) -> None:
        """Record many holdings at once, as `hold` does one by one."""
        by_amounts: dict[AmountList, list[int]] = {}
        shares: dict[str, list[tuple[int, Share]]] = {}
        unstated: dict[Unstated, list[int]] = {}
        for holding in holdings:
            assert holding.uid not in self.holdings, holding.uid
            self.holdings[holding.uid] = holding
            by_amounts.setdefault(holding.amounts, []).append(holding.row)
            self._count_names(holding, 1)
            if holding.unstated is not None:
                unstated.setdefault(holding.unstated, []).append(holding.row)
            for family, taken in holding.shares:
                shares.setdefault(family, []).extend([(holding.row, share) for share in taken])
        for amounts_held, rows in by_amounts.items():
            self.resources.take_all(rows, amounts_held)
        for each, rows in unstated.items():
            counts = np.bincount(rows, minlength=len(self.born))
            self.unstated += np.array(each, np.int64)[:, None] * counts
        for family, pairs in shares.items():
            self.device_columns(family).take_all(pairs)
        self.changes.extend(np.array([holding.row for holding in holdings], np.int32))

    def release(self, uid: str) -> Holding:
        """Free what a pod holds and return it."""
        holding = self.holdings.pop(uid)
        self._count(holding, sign=-1)
        return holding

    def close(self, row: int, family: str, uid: str, why: str) -> None:
        """Let no pod of this family onto the row as long as this pod's share is unknown."""
        self.device_columns(family).closed.setdefault(row, {})[uid] = why
        self.changes.append(row)

    def reopen(self, row: int, family: str, uid: str) -> None:
        """Let pods onto the row again, as far as it was closed for this pod."""
        closed = self.device_columns(family).closed
        closed[row].pop(uid)
        if not closed[row]:
            del closed[row]
        self.changes.append(row)

    def log_quotas(self) -> None:
        """Log that quotas have changed for pods that hold nothing of any row, so that they are looked at."""
        if self.count:
            self.changes.append(0)

    def _count(self, holding: Holding, *, sign: int) -> None:
        row = holding.row
        self.resources.take(row, holding.amounts, sign=sign)
        self._count_names(holding, sign)
        if holding.unstated is not None:
            self.unstated[:, row] += sign * np.array(holding.unstated, np.int64)
        for family, shares in holding.shares:
            self.device_columns(family).take(row, shares, sign=sign)
        self.changes.append(row)

    def _count_names(self, holding: Holding, sign: int) -> None:
        """Count what is kept by names instead of in columns."""
        if holding.ports:
            _tally(self.ports, holding.row, holding.ports, sign)
        if holding.claims or holding.disks or holding.device_claims:
            self._count_claims(holding, sign)
        if holding.presence is not None:
            self.presences.count(holding.row, holding.presence, sign=sign)
        if holding.charges:
            self.quotas.count(holding.namespace, holding.charges, sign=sign)

    def _count_claims(self, holding: Holding, sign: int) -> None:
        for each in holding.device_claims:
            self.held_claims.count(each, sign=sign)
        _tally(self.claims, holding.row, holding.claims, sign)
        _tally(self.disks, holding.row, holding.disks, sign)
        for claim in holding.claims:
            users = self.claimed.pop(claim, 0) + sign
            if users:
                self.claimed[claim] = users

    def _new_row(self) -> int:
        row = self.count
        if row == len(self.born):
            rows = 2 * row
            self.born = grown(self.born, rows)
            self.unschedulable = grown(self.unschedulable, rows)
            self.taintset = grown(self.taintset, rows)
            self.labelset = grown(self.labelset, rows)
            self.imageset = grown(self.imageset, rows)
            self.unstated = grown(self.unstated, rows, axis=1)
            self.hostname = grown(self.hostname, rows)
            self.presences.grow(rows)
            self.resources.grow(rows)
            for columns in self.devices.values():
                columns.grow(rows)
        self.count = row + 1
        return row

    # Invariants

    def check(self) -> None:
        """Assert that the columns are exactly what the holdings add up to."""
        fresh = self._recounted()
        assert (self.resources.used >= 0).all(), "a resource is released twice"
        width = len(fresh.resources.used)
        assert (self.resources.used[:width, : self.count] == fresh.resources.used).all()
        assert not self.resources.used[width:].any()
        assert (self.unstated[:, : self.count] == fresh.unstated[:, : self.count]).all()
        assert self.ports == fresh.ports
        assert self.claims == fresh.claims
        assert self.disks == fresh.disks
        assert self.claimed == fresh.claimed
        self.presences.check(fresh.presences)
        assert self.held_claims.counts() == fresh.held_claims.counts()
        assert self.quotas.counts() == fresh.quotas.counts(), "use of quotas has drifted"
        for family, columns in self.devices.items():
            _check_devices(columns, fresh.devices[family], self.count)

    def _recounted(self) -> "Ledger":
        fresh = Ledger()
        fresh.quotas = self.quotas.unheld()
        for name in self.resources.names.values:
            fresh.resources.index(name)
        for row, node in enumerate(self.nodes):
            fresh.add_node(node, self.inventories_at(row), name=self.names[row])
        for family in self.devices:
            fresh.device_columns(family)
        for holding in self.holdings.values():
            fresh.hold(holding)
        fresh.resources.used = fresh.resources.used[:, : self.count]
        return fresh

    def overcommitted(self) -> list[str]:
        """Return what is in use beyond its total, as `node/resource` and `node/family/position`."""
        found = []
        resources = self.resources
        over = resources.used[:, : self.count] > resources.allocatable[:, : self.count]
        for index, row in zip(*np.nonzero(over), strict=True):
            found.append(f"{self.names[row]}/{resources.names.values[index]}")
        for family, columns in self.devices.items():
            over = (columns.memory_used > columns.memory_total) | (
                columns.slots_used > columns.slots_total
            )
            for row, position in zip(*np.nonzero(over), strict=True):
                found.append(f"{self.names[row]}/{family}/{position}")
        return found


def labels_without_hostname(node: Node) -> tuple[tuple[str, str], ...]:
    """Return the node's labels, sorted, but for its hostname, which would spoil sharing."""
    return tuple(sorted(item for item in node.labels.items() if item[0] != HOSTNAME_LABEL))


ItemT = TypeVar("ItemT", bound=Hashable)


def _tally(
    tallies: dict[int, dict[ItemT, int]], row: int, items: Sequence[ItemT], sign: int
) -> None:
    """Count the items on a row (sign 1) or take them off (sign -1); rows without any are absent."""
    used = Counter(tallies.pop(row, {}))
    for item in items:
        used[item] += sign
    used = +used
    if used:
        tallies[row] = dict(used)


def _check_devices(columns: DeviceColumns, fresh: DeviceColumns, count: int) -> None:
    for name in ("memory_used", "cores_used", "slots_used", "opaque"):
        counted, expected = getattr(columns, name)[:count], getattr(fresh, name)[:count]
        assert (counted >= 0).all(), f"{columns.family} {name} is released twice"
        width = expected.shape[1]
        assert (counted[:, :width] == expected).all(), f"{columns.family} {name} has drifted"
        assert not counted[:, width:].any(), f"{columns.family} {name} has drifted"
    summed = columns.used[:3, :count].sum(axis=2)
    assert (columns.used_sums[:, :count] == summed).all(), f"{columns.family} sums have drifted"
    assert (columns.load[:count] == fresh.load[:count]).all(), f"{columns.family} load has drifted"
    assert columns.occupied == fresh.occupied, f"{columns.family} MIG placements have drifted"
