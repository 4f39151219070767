"""One what-if: nodes that do not exist yet and the pods put on them, with levels that can be taken back.

It answers as a call without state would that carries the same pods on the same nodes. Its state is a ledger
under an overlay, and what is placed where; verdicts are kept per class of pods and refreshed where nodes
have changed. A step that raises has changed nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec
import numpy as np

from springtide.engine.placement.family import Rows
from springtide.engine.placement.reasons import NODE_UNREGISTERED
from springtide.engine.simulation.bounds import Bounds
from springtide.engine.simulation.errors import Contradiction, TooLarge
from springtide.engine.simulation.filtering import Seen, Sight, named
from springtide.engine.simulation.judge import Fit
from springtide.engine.simulation.placements import Placed, Placements
from springtide.engine.simulation.verdicts import SAID_BY_NODE, Refusing, Verdicts
from springtide.model.device import DeviceView, Inventory
from springtide.model.ledger import Holding, Ledger
from springtide.model.node import Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes that refuse for one reason; evicting pods cannot help the unresolvable."""

    reason: str
    is_unresolvable: bool
    nodes: tuple[str, ...]


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """What nodes say to a pod: each of those asked is in it once."""

    fitting: tuple[str, ...]
    refused: tuple[Refused, ...]


class Session:
    """The state of one what-if."""

    def __init__(self, sight: Sight, bounds: Bounds) -> None:
        self._sight = sight
        self._judge = judge = sight.judge
        self._bounds = bounds
        self._ledger = Ledger()
        self._overlay = Overlay(self._ledger)
        self._verdicts = Verdicts(self._ledger, judge)
        self._placements = Placements()

    # What there is

    @property
    def levels(self) -> int:
        """Return how many forks are open."""
        return self._placements.levels

    @property
    def node_count(self) -> int:
        """Return how many nodes there are."""
        return len(self._ledger.rows)

    @property
    def pod_count(self) -> int:
        """Return how many pods are placed."""
        return len(self._placements)

    def content(self) -> dict[str, list[Placed]]:
        """Return all nodes, each with the pods on it in the order in which they were placed."""
        found: dict[str, list[Placed]] = {name: [] for name in self._names()}
        for each in self._placements:
            found[each.node].append(each)
        return found

    def uses(self) -> dict[str, list[tuple[str, DeviceView | Refusal]]]:
        """Return the devices of all nodes with what is in use of them, for comparisons."""
        return {
            name: [(family, self._verdicts.devices(row, family)) for family in self._judge.families]
            for name, row in self._ledger.rows.items()
        }

    def check(self) -> None:
        """Assert that what is placed and what is held are the same."""
        self._ledger.check()
        where = {each.uid: each.node for each in self._placements}
        held = self._ledger.holdings.items()
        assert where == {uid: self._ledger.names[holding.row] for uid, holding in held}

    # Nodes

    def add(self, nodes: Sequence[Node]) -> None:
        """Add nodes with the pods that stand on them."""
        wanted = self.node_count + len(nodes)
        if wanted > self._bounds.session_nodes_max:
            raise TooLarge(
                f"the session would have {wanted} nodes, and {self._bounds.session_nodes_max} are the "
                "most; ask about fewer nodes"
            )
        with self._step():
            vacant = sorted(self._ledger.vacant, reverse=True)
            for node in nodes:
                self._add(node, vacant)

    def _add(self, node: Node, vacant: list[int]) -> None:
        ledger, seen = self._ledger, self._sight.seen(node)
        if node.name in ledger.rows:
            raise Contradiction(
                f"the session has a node {node.name} already; names of nodes must be unique"
            )
        bare = Node(name=node.name)
        inventories = {
            family: each for family, each in seen.supply.found if isinstance(each, Inventory)
        }
        if vacant:
            row = vacant.pop()
            self._overlay.renew_node(row, bare, inventories)
        else:
            row = self._overlay.add_node(bare, inventories)
        self._close(row, seen, inventories)
        for held in seen.standing.held:
            self._hold(held.pod, row, held.fit)

    def _close(self, row: int, seen: Seen, inventories: Mapping[str, Inventory]) -> None:
        """Let nobody onto devices that are not known, or of which somebody holds nobody knows what."""
        for family, each in seen.supply.found:
            if isinstance(each, Refusal) and not _is_bare(each):
                self._ledger.close(row, family, SAID_BY_NODE, each.text)
        for shut in seen.standing.shut:
            if shut.family in inventories:
                self._ledger.close(row, shut.family, shut.uid or shut.why, shut.why)

    def remove_nodes(self, names: Sequence[str]) -> tuple[Placed, ...]:
        """Take nodes away, and return the pods that went with them."""
        with self._step():
            rows = [self._row(name) for name in names]
            if len(set(rows)) < len(rows):
                raise Contradiction("a node is named twice; name every node once")
            leaving = set(rows)
            gone = [uid for uid, each in self._ledger.holdings.items() if each.row in leaving]
            taken = tuple(self._release(uid) for uid in gone)
            for row in rows:
                self._overlay.vacate(row)
        return taken

    # Pods

    def evaluate(self, pod: Pod, names: Sequence[str] | None = None) -> Evaluation:
        """Return which nodes take a pod and why the others do not; of all nodes unless some are named."""
        pod_class = self._judge.class_of(pod)
        rows = self._asked(names)
        if not pod_class.asks and pod_class.refusal is None:
            return Evaluation(fitting=self._named(rows), refused=())
        fits = self._verdicts.fitting(pod_class, rows)
        refusing = rows[~fits]
        groups = self._verdicts.refusing(pod_class, refusing) if len(refusing) else ()
        return Evaluation(
            fitting=self._named(rows[fits]),
            refused=tuple(self._refused(each) for each in groups),
        )

    def _refused(self, group: Refusing) -> Refused:
        return Refused(
            reason=group.reason,
            is_unresolvable=group.is_unresolvable,
            nodes=self._named(group.rows),
        )

    def annotations(self, pod: Pod, name: str) -> dict[str, str]:
        """Return the annotations that a pod would get on a node; it must fit there."""
        answer = self._verdicts.answer(self._judge.class_of(pod), self._row(name))
        assert isinstance(answer, Fit), answer
        return named(self._judge.annotations(answer), name)

    def place(self, pod: Pod, name: str) -> Placed | Refusal:
        """Place a pod on a node, or return why it does not fit there; `together` with others or alone."""
        row = self._row(name)
        there = self._placements.get(pod.uid)
        if there is not None:
            raise Contradiction(
                f"pod {pod.key} with uid {pod.uid} is on node {there.node} already; remove it first"
            )
        if self.pod_count >= self._bounds.session_pods_max:
            raise TooLarge(
                f"the session has {self.pod_count} pods, and these are the most; remove some"
            )
        answer = self._verdicts.answer(self._judge.class_of(pod), row)
        if isinstance(answer, Refusal):
            return answer
        with self._step():
            return self._hold(pod, row, answer)

    def remove(self, uid: str) -> Placed:
        """Take a pod away that was placed."""
        if self._placements.get(uid) is None:
            raise Contradiction(f"no pod with uid {uid} is placed in the session")
        with self._step():
            return self._release(uid)

    # Levels

    def fork(self) -> None:
        """Open a level that can be reverted or committed."""
        if self.levels >= self._bounds.levels_max:
            raise TooLarge(
                f"{self.levels} forks are open, and these are the most; commit or revert one"
            )
        self._open()

    def revert(self) -> None:
        """Undo everything since the last fork."""
        self._must_be_forked()
        self._back()

    def commit(self) -> None:
        """Keep everything since the last fork; it belongs to the fork below from now on, if any."""
        self._must_be_forked()
        self._keep()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Let several steps be one: if one of them raises, none has happened."""
        with self._step():
            yield

    def take_back(self) -> None:
        """Undo the steps of the one that is under way."""
        self._back()
        self._open()

    def _must_be_forked(self) -> None:
        if not self.levels:
            raise Contradiction("no fork is open: fork before you revert or commit")

    @contextmanager
    def _step(self) -> Iterator[None]:
        self._open()
        try:
            yield
        except BaseException:
            self._back()
            raise
        self._keep()

    def _open(self) -> None:
        self._overlay.fork()
        self._placements.fork()

    def _keep(self) -> None:
        self._overlay.commit()
        self._placements.commit()
        changes = self._ledger.changes
        if changes.position - changes.start > self._bounds.log_max:
            changes.forget(changes.position)

    def _back(self) -> None:
        self._overlay.revert()
        self._placements.revert()

    # Changes

    def _hold(self, pod: Pod, row: int, fit: Fit) -> Placed:
        if self._placements.get(pod.uid) is not None:
            raise Contradiction(
                f"pod {pod.key} with uid {pod.uid} stands on two nodes; uids must be unique"
            )
        self._must_have_room()
        node = self._ledger.names[row]
        placed = Placed(
            uid=pod.uid,
            namespace=pod.namespace,
            name=pod.name,
            node=node,
            annotations=named(self._judge.annotations(fit), node),
            order=self._placements.next_order(),
        )
        self._overlay.hold(Holding(uid=pod.uid, row=row, shares=fit.shares))
        self._placements.add(placed)
        return placed

    def _release(self, uid: str) -> Placed:
        self._must_have_room()
        self._overlay.release(uid)
        return self._placements.take(uid)

    def _must_have_room(self) -> None:
        if self._placements.changes >= self._bounds.changes_max:
            raise TooLarge(
                f"{self._placements.changes} changes are in open forks, and these are the most; commit or "
                "revert them"
            )

    # Names

    def _row(self, name: str) -> int:
        row = self._ledger.rows.get(name)
        if row is None:
            raise Contradiction(f"the session has no node {name}; add it first")
        return row

    def _asked(self, names: Sequence[str] | None) -> Rows:
        if names is not None:
            return np.array([self._row(name) for name in names], np.intp)
        rows = np.arange(self._ledger.count)
        if self._ledger.vacant:
            rows = np.delete(rows, list(self._ledger.vacant))
        return rows

    def _names(self) -> tuple[str, ...]:
        return self._named(self._asked(None))

    def _named(self, rows: Rows) -> tuple[str, ...]:
        names = self._ledger.names
        return tuple([names[row] for row in rows.tolist()])


def _is_bare(refusal: Refusal) -> bool:
    """Return whether a node merely has nothing of a family."""
    return refusal.reasons == (NODE_UNREGISTERED,)
