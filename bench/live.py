"""How long does the live scheduler take to choose a node, and how long does the rest of a pod's way take?

Nodes of 8 cards that run four pods each, as HAMi's own filter was measured. A decision is a whole filter
call without HTTP and without the patch: the class of the pod, the best of the nodes that are named, its
devices, the reservation in ledger and quota, the annotations and the event. Names are new texts in every
call, as they come from JSON; where only some nodes are named they are others each time.
"""

import gc
import random
from collections.abc import Iterator, Sequence
from itertools import count
from time import process_time_ns

from msgspec.structs import replace

from bench.clusters import CARDS, registration
from bench.figure import Figure
from bench.placing import spec_of
from springtide.apps.planner.families import Policies, families
from springtide.base.annotations import NODE_LOCK
from springtide.base.quantity import parse
from springtide.engine.live import CreateBinding, Done, Live, LiveSettings, PatchNode
from springtide.model.node import Node
from springtide.model.pod import Pod, PodSpec

KINDS = families(None, Policies())
NOW_S = 1_767_225_900.0
MEASURED = 2_000
CLASSES = 20
PEER_MS = {(1_000, 1_000): 65, (5_000, 500): 161, (5_000, 5_000): 338}
"""Milliseconds of HAMi's filter with so many nodes and so many names, its patch to a fake client included."""


def measure() -> Iterator[Figure]:
    """Yield what a decision takes, and the way of a pod through the scheduler."""
    for nodes, named in PEER_MS:
        yield from _decisions(nodes, named)
        gc.collect()
    world = World(5_000)
    yield _refusal(world)
    yield _way(world)
    yield _rebuild(world)


class World:
    """A cluster whose nodes run four pods each, and pods that keep coming."""

    def __init__(self, nodes: int) -> None:
        self.live = Live(KINDS, LiveSettings(scheduler_name="ours"))
        self.nodes = [_node(index) for index in range(nodes)]
        self.names = [node.name for node in self.nodes]
        for node in self.nodes:
            self.live.node_seen(node, now_s=NOW_S, version="1")
        self.specs = [spec_of(index) for index in range(CLASSES)]
        self.chance = random.Random(1)
        self._number = count()
        self.placed = [self._begun() for _ in range(4 * nodes)]

    def next(self) -> Pod:
        """Return the next pod that comes."""
        number = next(self._number)
        spec = self.chance.choice(self.specs)
        return Pod(namespace="default", name=f"pod-{number}", uid=f"uid-{number}", spec=spec)

    def called(self, named: int) -> list[str]:
        """Return the names of a call, as new texts."""
        first = self.chance.randrange(len(self.names))
        names = (self.names[first:] + self.names[:first])[:named]
        return [("x" + name)[1:] for name in names]

    def _begun(self) -> Pod:
        pod = self.next()
        answer = self.live.filter(pod, self.called(50), now_s=NOW_S)
        assert answer.patch is not None
        notes = {name: text for name, text in answer.patch.annotations.items() if text is not None}
        bound = replace(pod, node_name=answer.node or "", annotations=notes, phase="Running")
        self.live.pod_seen(bound, now_s=NOW_S)
        return bound


def _decisions(nodes: int, named: int) -> Iterator[Figure]:
    world = World(nodes)
    took = [_one(world, named) for _ in range(MEASURED)][CLASSES * 10 :]
    took.sort()
    median_ms, late_ms = took[len(took) // 2] / 1e6, took[len(took) * 99 // 100] / 1e6
    peer = PEER_MS[nodes, named]
    label = f"{nodes:,} nodes, {named:,} named"
    how = f"median; {peer / median_ms:,.0f} times faster than HAMi's {peer} ms"
    yield Figure(label, median_ms, "ms", how)
    yield Figure(f"{label}, p99", late_ms, "ms", "one decision in a hundred takes longer")


def _one(world: World, named: int) -> int:
    pod, names = world.next(), world.called(named)
    begun = process_time_ns()
    answer = world.live.filter(pod, names, now_s=NOW_S)
    took = process_time_ns() - begun
    assert answer.node is not None
    world.live.pod_gone(pod.uid, now_s=NOW_S)
    return took


def _refusal(world: World) -> Figure:
    """Return what it takes to tell of every node why it refuses."""
    spec = replace(world.specs[0], containers=(_large(world.specs[0]),))
    took = []
    for _ in range(20):
        pod = replace(world.next(), spec=spec)
        names = world.called(5_000)
        begun = process_time_ns()
        answer = world.live.filter(pod, names, now_s=NOW_S)
        took.append(process_time_ns() - begun)
        assert len(answer.refusals) == len(names)
    return Figure("all of 5,000 nodes refuse", min(took) / 1e6, "ms", "with each one's reasons")


def _way(world: World) -> Figure:
    """Return how many pods a second go all the way: filter, bind, lock, allocate, release, seen."""
    pods = [(world.next(), world.called(500)) for _ in range(MEASURED)]
    begun = process_time_ns()
    for pod, names in pods:
        _through(world.live, pod, names)
    rate = MEASURED / (process_time_ns() - begun) * 1e9
    return Figure("pods all the way, nobody else", rate, "pods/s", "5,000 nodes, 500 named")


def _through(live: Live, pod: Pod, names: Sequence[str]) -> None:
    answer = live.filter(pod, names, now_s=NOW_S)
    assert answer.patch is not None
    node = answer.node or ""
    notes = {name: text for name, text in answer.patch.annotations.items() if text is not None}
    live.pod_seen(replace(pod, annotations=notes), now_s=NOW_S)
    commands = live.bind(
        uid=pod.uid, namespace=pod.namespace, name=pod.name, node=node, now_s=NOW_S
    )
    while commands:
        (command, *_) = commands
        if not isinstance(command, PatchNode | CreateBinding) and not getattr(command, "bind", ""):
            break
        commands = live.outcome(pod.uid, Done(), now_s=NOW_S)
    live.pod_seen(replace(pod, annotations=notes, node_name=node, phase="Running"), now_s=NOW_S)
    known = live.stock.get(node)
    assert known is not None
    notes = {name: text for name, text in known.node.annotations.items() if name != NODE_LOCK}
    live.node_seen(replace(known.node, annotations=notes), now_s=NOW_S, version="1")


def _rebuild(world: World) -> Figure:
    """Return how long a process that starts needs to know all that is held."""
    live = Live(KINDS, LiveSettings(scheduler_name="ours"))
    begun = process_time_ns()
    for node in world.nodes:
        live.node_seen(node, now_s=NOW_S, version="1")
    for pod in world.placed:
        live.pod_seen(pod, now_s=NOW_S)
    took_s = (process_time_ns() - begun) / 1e9
    return Figure("rebuild", took_s, "s", "5,000 nodes x 8, 20,000 pods, from records")


def _node(index: int) -> Node:
    _, model, memory_mib = CARDS[index % len(CARDS)]
    notes = {
        "hami.io/node-nvidia-register": registration(index, memory_mib, model, 8),
        "hami.io/node-handshake": "Requesting_2026-01-01 00:00:00",
    }
    return Node(
        name=f"node-{index:05d}",
        annotations=notes,
        allocatable=(("nvidia.com/gpu", parse("80")),),
    )


def _large(spec: PodSpec) -> object:
    (container,) = spec.containers
    pairs = tuple(
        (name, parse("900000") if name == "nvidia.com/gpumem" else each)
        for name, each in container.limits
    )
    return replace(container, limits=pairs, requests=pairs)
