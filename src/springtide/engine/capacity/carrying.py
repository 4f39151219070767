"""Carrying a decision out in the picture: its new nodes join, and its pods are put on them.

The pods of an estimate go where the estimate put them. A similar group's nodes may be a little
smaller than those that were estimated, limits may have cut the decision, and a group may add more
nodes than the pods need: what is not placed by then looks for room on all that was added.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from springtide.engine.capacity.decision import Decision, Growth
from springtide.engine.capacity.estimate import NewNode
from springtide.engine.capacity.options import Option
from springtide.engine.capacity.schedulable import fill
from springtide.engine.capacity.start import Start
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.tables import Tables
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """What a decision is carried out in; `starts` has each group's start by the group's name."""

    tables: Tables
    overlay: Overlay
    classifier: Classifier
    starts: Mapping[str, Start]


class Carried(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a decision: the names of each growth's nodes, and which pods went where.

    `placed` has every new node, `moved` the pods that new nodes let go to nodes that were there.
    """

    names: tuple[tuple[str, ...], ...]
    placed: dict[str, list[Pod]]
    moved: tuple[tuple[Pod, str], ...] = ()

    @property
    def pods(self) -> set[str]:
        """Return the uids of all pods that have a node now."""
        new = (pod.uid for pods in self.placed.values() for pod in pods)
        return {*new, *(pod.uid for pod, _ in self.moved)}


def carry_out(
    growths: Sequence[Growth],
    decision: Decision,
    waiting: Sequence[Pod],
    picture: Picture,
    *,
    together: bool,
) -> Carried:
    """Add the nodes of all growths, put the decision's pods on them, and say who went where.

    The nodes of a step come up `together` where pods look at others: then a node of one group is
    there when pods look for room on those of another one, unlike in the estimate.
    """
    assert decision.choice is not None
    option = decision.choice.option
    assert option is not None
    first = picture.overlay.ledger.count
    names = tuple(map(_names, growths))
    if together:
        placed = _added(growths, picture)
        aside = {pod.uid for node in option.estimate.elsewhere for pod in node.pods}
        triggered = [pod for pod in decision.triggered if pod.uid not in aside]
        _fill_up(triggered, first, placed, picture=picture)
    else:
        placed = _as_estimated(growths, option, picture)
    moved = _moved(option.estimate.elsewhere, picture)
    carried = Carried(names=names, placed=placed, moved=moved)
    _fill_up(_without(decision.triggered, carried), first, placed, picture=picture)
    if len(placed) > option.estimate.node_count:
        _fill_up(_without(waiting, carried), first, placed, picture=picture)
    return carried


def carry_up(growths: Sequence[Growth], waiting: Sequence[Pod], picture: Picture) -> Carried:
    """Add the nodes of growths that no pod asked for; some pods may use them anyway."""
    first = picture.overlay.ledger.count
    carried = Carried(names=tuple(map(_names, growths)), placed=_added(growths, picture))
    _fill_up(waiting, first, carried.placed, picture=picture)
    return carried


def _added(growths: Sequence[Growth], picture: Picture) -> dict[str, list[Pod]]:
    """Add the nodes of all growths, and return their names without pods."""
    placed: dict[str, list[Pod]] = {}
    for growth in growths:
        for name in _names(growth):
            picture.starts[growth.name].add(name)
            placed[name] = []
    return placed


def _as_estimated(
    growths: Sequence[Growth], option: Option, picture: Picture
) -> dict[str, list[Pod]]:
    """Add one node after the other, each with the pods that the estimate put on one."""
    planned = [list(node.pods) for node in option.estimate.nodes]
    placed: dict[str, list[Pod]] = {}
    for growth in growths:
        is_own = growth.name == option.group.name
        for name in _names(growth):
            row = picture.starts[growth.name].add(name)
            pods = planned.pop(0) if planned else []
            placed[name] = _settled(pods, row, picture, is_own=is_own)
    return placed


def _without(pods: Iterable[Pod], carried: Carried) -> list[Pod]:
    done = carried.pods
    return [pod for pod in pods if pod.uid not in done]


def _names(growth: Growth) -> tuple[str, ...]:
    """Return what the new nodes are called, counting on from those that the group has."""
    numbers = range(growth.size_before + 1, growth.size_after + 1)
    return tuple(f"{growth.name}-new-{number}" for number in numbers)


def _moved(nodes: Sequence[NewNode], picture: Picture) -> tuple[tuple[Pod, str], ...]:
    """Put pods on nodes that were there before, as far as these take them now."""
    rows = picture.overlay.ledger.rows
    return tuple(
        (pod, node.name)
        for node in nodes
        for pod in _settled(node.pods, rows[node.name], picture, is_own=False)
    )


def _settled(pods: Iterable[Pod], row: int, picture: Picture, *, is_own: bool) -> list[Pod]:
    """Put the pods on the row, as far as it takes them, and return those that it took.

    A row of the group that was estimated takes them all.
    """
    tables = picture.tables
    taken = []
    for pod in pods:
        pod_class = picture.classifier.classify(pod)
        # The estimate has asked all rules of its group; which devices it was is needed again.
        placement = (tables.allocate if is_own else tables.place)(pod_class, row)
        if not isinstance(placement, Placement):
            # A quota may let cards be picked that another order of the same pods would not.
            is_certain = is_own and not pod_class.quota
            assert not is_certain, (pod.key, tables.ledger.names[row], placement)
            continue
        picture.overlay.hold(holding(pod.uid, pod_class, placement))
        taken.append(pod)
    return taken


def _fill_up(
    pods: Sequence[Pod], first_row: int, placed: dict[str, list[Pod]], *, picture: Picture
) -> None:
    """Place what fits on the rows that were added."""
    if not pods:
        return
    filled = fill(pods, picture.tables, picture.overlay, picture.classifier, first_row=first_row)
    for pod, name in filled.placed:
        placed[name].append(pod)
