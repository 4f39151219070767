"""Carrying a decision out in the picture: its new nodes join, and its pods are put on them.

The pods of an estimate go where the estimate put them. A similar group's nodes may be a little
smaller than those that were estimated, limits may have cut the decision, and a group may add more
nodes than the pods need: what is not placed by then looks for room on all that was added.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from springtide.engine.capacity.decision import Decision, Growth
from springtide.engine.capacity.estimate import NewNode
from springtide.engine.capacity.schedulable import fill
from springtide.engine.capacity.start import Start
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.tables import Placement, Tables, holding
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """What a decision is carried out in; `starts` has each group's start by the group's name."""

    tables: Tables
    overlay: Overlay
    classifier: Classifier
    starts: Mapping[str, Start]


def carry_out(
    growths: Sequence[Growth], decision: Decision, waiting: Sequence[Pod], picture: Picture
) -> tuple[list[tuple[NewNode, ...]], tuple[tuple[Pod, str], ...]]:
    """Add the nodes of all growths and return, for each, those of its nodes that got pods.

    Behind them come the pods that new nodes let go to nodes that were there before.
    """
    assert decision.choice is not None
    option = decision.choice.option
    assert option is not None
    first = picture.overlay.ledger.count
    planned = [list(node.pods) for node in option.estimate.nodes]
    placed: dict[str, list[Pod]] = {}
    added: list[list[str]] = []
    for growth in growths:
        names = _names(growth)
        added.append(names)
        for name in names:
            row = picture.starts[growth.name].add(name)
            pods = planned.pop(0) if planned else []
            is_own = growth.name == option.group.name
            placed[name] = _settled(pods, row, picture, is_own=is_own)
    moved = _moved(option.estimate.elsewhere, picture)
    done = {pod.uid for pods in (*placed.values(), [pod for pod, _ in moved]) for pod in pods}
    _fill_up(
        [pod for pod in decision.triggered if pod.uid not in done], first, placed, picture=picture
    )
    if len(placed) > option.estimate.node_count:
        done |= {pod.uid for pods in placed.values() for pod in pods}
        _fill_up([pod for pod in waiting if pod.uid not in done], first, placed, picture=picture)
    return [_served(names, placed) for names in added], moved


def carry_up(
    growths: Sequence[Growth], waiting: Sequence[Pod], picture: Picture
) -> list[tuple[NewNode, ...]]:
    """Add the nodes of growths that no pod asked for, and return those that some can use anyway."""
    first = picture.overlay.ledger.count
    added = [_names(growth) for growth in growths]
    for growth, names in zip(growths, added, strict=True):
        for name in names:
            picture.starts[growth.name].add(name)
    placed: dict[str, list[Pod]] = {name: [] for names in added for name in names}
    _fill_up(waiting, first, placed, picture=picture)
    return [_served(names, placed) for names in added]


def _names(growth: Growth) -> list[str]:
    """Return what the new nodes are called, counting on from those that the group has."""
    numbers = range(growth.size_before + 1, growth.size_after + 1)
    return [f"{growth.name}-new-{number}" for number in numbers]


def _served(names: Iterable[str], placed: Mapping[str, Sequence[Pod]]) -> tuple[NewNode, ...]:
    return tuple(NewNode(name, tuple(placed[name])) for name in names if placed[name])


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
            assert not is_own, (pod.key, tables.ledger.names[row], placement)
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
