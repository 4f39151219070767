"""Which nodes of a call take a pod, each as it was sent: the whole of a call without state.

The answer is a function of pod and nodes. Nodes with the same devices in the same use are asked once, and
what was worked out of equal annotations before is remembered.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from springtide.engine.placement.classes import PodClass
from springtide.engine.simulation.judge import Judge
from springtide.engine.simulation.memo import Memo
from springtide.engine.simulation.standing import NOBODY, Shut, Standing, replayed, used
from springtide.engine.simulation.supply import ANY_NODE, Found, Supplier, Supply, Texts
from springtide.model.device import DeviceView
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

PODS_ANNOTATION: Final = "springtide.io/simulated-pods"
MEMO_BYTES_MAX: Final = 192 << 20
"""How much of nodes' annotations is remembered, with what was found in them."""
PLACES_MAX: Final = 16_384
"""How many distinct states of nodes are the identical object wherever they are met."""
ENTRY_BYTES: Final = 200
STANDING_BYTES: Final = 1_000
"""What an entry weighs beside its texts, and each of the pods in it."""

ReadPods = Callable[[str], tuple[Pod, ...] | str]
"""Reads the pods in a node's annotation; a text is what is wrong with it."""

_UNFIT_FOR_IDS: Final = re.compile(r"[^A-Za-z0-9.-]")
"""What would end an id within the texts that it stands in."""


class Place(msgspec.Struct, frozen=True, cache_hash=True):
    """A node as far as devices go: nodes with equal ones give equal answers."""

    devices: tuple[tuple[str, DeviceView | Refusal], ...]


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What was found of one node."""

    supply: Supply
    standing: Standing
    place: Place


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes that give the same answer, by their places in the call.

    `annotations` are those that the pod would get there, the node's name standing as `ANY_NODE`; none of
    them count where there is a `refusal`.
    """

    positions: list[int]
    refusal: Refusal | None = None
    annotations: Mapping[str, str] = {}


class Sight:
    """Looks at nodes: what devices they have, and who stands on them.

    `replays` counts the nodes whose pods were placed anew.
    """

    def __init__(self, supplier: Supplier, judge: Judge, read_pods: ReadPods) -> None:
        self.judge = judge
        self.replays = 0
        self._supplier = supplier
        self._reads_labels = supplier.reads_labels
        self._read_pods = read_pods
        self._relevant = supplier.annotations | {PODS_ANNOTATION}
        self.memo: Memo[object, Seen] = Memo(weight_max=MEMO_BYTES_MAX)
        self._empty: Memo[Found, Seen] = Memo(weight_max=PLACES_MAX)
        self._places: Memo[Place, Place] = Memo(weight_max=PLACES_MAX)

    def seen(self, node: Node) -> Seen:
        """Return what there is to be seen of a node."""
        relevant = self._relevant
        texts = tuple([each for each in node.annotations.items() if each[0] in relevant])
        key = (texts, self._supplier.labels(node)) if self._reads_labels else texts
        known = self.memo.get(key)
        if known is None:
            known = self._look(node, texts)
            weight = ENTRY_BYTES + sum(len(text) for _, text in texts)
            weight += STANDING_BYTES * len(known.standing.held)
            self.memo.put(key, known, weight=weight)
        return known

    def _look(self, node: Node, texts: Texts) -> Seen:
        pods = node.annotations.get(PODS_ANNOTATION)
        if pods is None:
            return self._empty_node(self._supplier.supply(node, texts, with_ids=False))
        devices = tuple([each for each in texts if each[0] != PODS_ANNOTATION])
        supply = self._supplier.supply(node, devices)
        standing = self._standing(pods, supply)
        return Seen(supply=supply, standing=standing, place=self._place(supply, standing))

    def _empty_node(self, supply: Supply) -> Seen:
        known = self._empty.get(supply.found)
        if known is None:
            made = Seen(supply=supply, standing=NOBODY, place=self._place(supply, NOBODY))
            known = self._empty.put(supply.found, made, weight=1)
        return known

    def _place(self, supply: Supply, standing: Standing) -> Place:
        made = Place(used(supply, standing))
        return self._places.get(made) or self._places.put(made, made, weight=1)

    def _standing(self, text: str, supply: Supply) -> Standing:
        pods = self._read_pods(text)
        if isinstance(pods, str):
            why = f"device allocation of pods unreadable: {PODS_ANNOTATION}: {pods}"
            shut = (Shut(family=name, uid="", why=why) for name, _ in supply.found)
            return Standing(shut=tuple(shut))
        self.replays += 1
        return replayed(pods, supply, self.judge)


def filtered(pod: Pod, nodes: Sequence[Node], sight: Sight) -> tuple[Group, ...]:
    """Return every node exactly once, with what it says to the pod; each group in the order given."""
    pod_class = sight.judge.class_of(pod)
    if not pod_class.asks and pod_class.refusal is None:
        return (Group(positions=list(range(len(nodes)))),)
    alike: dict[Place, list[int]] = {}
    for position, node in enumerate(nodes):
        place = sight.seen(node).place
        known = alike.get(place)
        if known is None:
            alike[place] = [position]
        else:
            known.append(position)
    return tuple(
        _asked(pod_class, place, positions, sight.judge) for place, positions in alike.items()
    )


def _asked(pod_class: PodClass, place: Place, positions: list[int], judge: Judge) -> Group:
    answer = judge.answer(pod_class, dict(place.devices).__getitem__)
    if isinstance(answer, Refusal):
        return Group(positions=positions, refusal=answer)
    return Group(positions=positions, annotations=judge.annotations(answer))


def id_name(node: str) -> str:
    """Return what stands for the name of a node in the ids of its devices."""
    return _UNFIT_FOR_IDS.sub("-", node)


def named(annotations: Mapping[str, str], node: str) -> dict[str, str]:
    """Return annotations with the ids that the devices have on this node."""
    name = id_name(node)
    return {key: text.replace(ANY_NODE, name) for key, text in annotations.items()}
