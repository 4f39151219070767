"""The live scheduler under everything that can happen: nothing leaks, nothing is given twice.

Whatever comes in whatever order, a process that starts anew and sees only the objects holds the same.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from springtide.base.quantity import parse
from springtide.engine.live import (
    CreateBinding,
    Failed,
    Fault,
    Live,
    LiveSettings,
    PatchNode,
    PatchPod,
    ReadNode,
)
from springtide.model.node import Node
from springtide.model.pod import GangLink, Pod
from springtide.model.quotas import NamespaceQuota
from tests.builders import card, pod
from tests.living import LOST, Cluster, gpu_node, stored

NODES = ("n1", "n2", "n3")
FAULTS = st.sampled_from([PatchNode, PatchPod, CreateBinding, ReadNode])
FAILURES = st.sampled_from(
    [
        Failed(fault=Fault.OTHER, message="apiserver 500"),
        Failed(fault=Fault.CONFLICT, message="the object has been modified"),
        Failed(fault=Fault.OTHER, message=LOST),
    ]
)
GPUMEM = "nvidia.com/gpumem"
GANG = (GangLink(api="scheduling.x-k8s.io", name="gang"),)


def node_of(name: str, cards: int) -> Node:
    """Return a node with so many cards."""
    return gpu_node(name, *(card(f"GPU-{name}-{index}", memory=1000) for index in range(cards)))


class LiveCluster(RuleBasedStateMachine):
    """Users, plugins, kubelets and faults around one scheduler."""

    writes_at_bind = False

    def __init__(self) -> None:
        super().__init__()
        self.cluster = Cluster(
            LiveSettings(
                reservation_timeout_s=120,
                scheduler_name="ours",
                writes_at_bind=self.writes_at_bind,
            )
        )
        self.number = 0

    @initialize(counts=st.lists(st.integers(0, 3), min_size=3, max_size=3))
    def begin(self, counts: list[int]) -> None:
        """Begin with three nodes."""
        for name, count in zip(NODES, counts, strict=True):
            self.cluster.add(node_of(name, count))

    def uids(self, *, waiting: bool | None = None) -> list[str]:
        """Return the pods that have not ended, those that wait or those that do not."""
        return sorted(
            uid
            for uid, each in self.cluster.pods.items()
            if not each.is_finished and (waiting is None or waiting is not bool(each.node_name))
        )

    def drawn(self, data: st.DataObject, *, waiting: bool | None = None) -> Pod:
        """Draw one of these pods."""
        return self.cluster.pods[data.draw(st.sampled_from(self.uids(waiting=waiting)))]

    # What happens

    @rule(
        gpu=st.integers(1, 2),
        memory=st.sampled_from([200, 400, 1000]),
        names=st.lists(st.sampled_from(NODES), unique=True, min_size=1),
        is_lost=st.booleans(),
        is_member=st.booleans(),
    )
    def schedule(
        self, gpu: int, memory: int, names: list[str], *, is_lost: bool, is_member: bool
    ) -> None:
        """A new pod comes and is filtered; the patch may be lost."""
        self.number += 1
        wanted = stored(pod(f"p{self.number}", gpu=gpu, gpumem=memory))
        wanted = replace(wanted, gang_links=GANG if is_member else ())
        self.cluster.filter(wanted, names, is_lost=is_lost)

    @precondition(lambda self: self.uids(waiting=True))
    @rule(data=st.data(), is_lost=st.booleans())
    def schedule_again(self, data: st.DataObject, *, is_lost: bool) -> None:
        """A pod that waits is filtered again."""
        names = data.draw(st.lists(st.sampled_from(NODES), unique=True))
        self.cluster.filter(self.drawn(data, waiting=True), names, is_lost=is_lost)

    @precondition(lambda self: self.uids(waiting=True))
    @rule(data=st.data(), faults=st.lists(st.tuples(FAULTS, FAILURES), max_size=3))
    def bind(self, data: st.DataObject, faults: list[tuple[type, Failed]]) -> None:
        """A pod that waits is bound, mostly to its node; steps may fail."""
        wanted = self.drawn(data, waiting=True)
        reserved = self.cluster.live.tracking.reservations.get(wanted.uid)
        own = NODES[0] if reserved is None else reserved.node
        for kind, failure in faults:
            self.cluster.bind_faults.setdefault(kind, []).append(failure)
        node = data.draw(st.sampled_from([own, own, own, *NODES]))
        self.cluster.bind(wanted.uid, node)
        self.cluster.bind_faults.clear()

    @rule(name=st.sampled_from(NODES))
    def allocate(self, name: str) -> None:
        """A plugin allocates and releases the lock."""
        if name in self.cluster.nodes:
            self.cluster.allocate(name)

    @precondition(lambda self: self.uids(waiting=False))
    @rule(data=st.data(), phase=st.sampled_from(["Succeeded", "Failed"]))
    def end(self, data: st.DataObject, phase: str) -> None:
        """A pod ends."""
        self.cluster.change(self.drawn(data, waiting=False).uid, phase=phase)

    @precondition(lambda self: self.uids())
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """A pod is deleted, terminating first or not."""
        uid = self.drawn(data).uid
        if data.draw(st.booleans()):
            self.cluster.change(uid, is_terminating=True)
        else:
            self.cluster.delete(uid)

    @rule(name=st.sampled_from(NODES), cards=st.integers(0, 3))
    def change_node(self, name: str, cards: int) -> None:
        """A node registers other cards, or comes back."""
        before = self.cluster.nodes.get(name)
        fresh = node_of(name, cards)
        notes = {} if before is None else dict(before.annotations)
        self.cluster.add(replace(fresh, annotations={**notes, **fresh.annotations}))

    @rule(name=st.sampled_from(NODES))
    def remove_node(self, name: str) -> None:
        """A node goes."""
        if name in self.cluster.nodes:
            self.cluster.remove_node(name)

    @rule(limit=st.sampled_from([None, 0, 700, 5000]))
    def limit(self, limit: int | None) -> None:
        """A quota comes, changes or goes."""
        if limit is None:
            self.cluster.live.quota_gone("default", "q")
            return
        limits = ((GPUMEM, parse(str(limit))),)
        quota = NamespaceQuota(namespace="default", name="q", limits=limits)
        self.cluster.live.quota_seen(quota)

    @rule(seconds=st.sampled_from([1, 29, 61, 130]))
    def wait(self, seconds: int) -> None:
        """Time passes."""
        self.cluster.wait(seconds)

    @rule(data=st.data())
    def tell_again(self, data: st.DataObject) -> None:
        """Informers list everything again."""
        for name in self.cluster.nodes:
            self.cluster.perform(self.cluster.tell_node(name))
        for uid in data.draw(st.permutations(sorted(self.cluster.pods))):
            self.cluster.tell_pod(uid)

    @rule()
    def restart(self) -> None:
        """The process starts anew and knows what is written."""
        self.cluster.live = self.rebuilt()

    def rebuilt(self) -> Live:
        """Return a process that starts anew; limits are read as well."""
        fresh = self.cluster.rebuilt()
        fresh.restrict(self.cluster.live.ledger.quotas.limits)
        return fresh

    def told(self) -> Live:
        """Return one that was also told of reservations that are not written yet."""
        fresh, live = self.rebuilt(), self.cluster.live
        for uid, reserved in live.tracking.reservations.items():
            held = live.holders.get(uid)
            if reserved.is_unwritten and held is not None:
                fresh.holders.release(uid)
                fresh.holders.hold(held)
        return fresh

    # What holds

    @invariant()
    def columns_agree_with_holdings(self) -> None:
        """Nothing drifts."""
        self.cluster.live.ledger.check()

    @invariant()
    def nothing_is_given_twice(self) -> None:
        """No card has more in use than it has."""
        assert self.cluster.live.ledger.overcommitted() == []

    @invariant()
    def only_pods_hold_devices(self) -> None:
        """What has ended or is gone holds nothing."""
        holders = {each.uid for each in self.cluster.live.holders.all()}
        assert holders <= set(self.uids())

    @invariant()
    def tables_follow_every_change(self) -> None:
        """What tables say of the rows that have changed is what new ones say."""
        assert decided(self.cluster.live) == decided(self.told())

    @invariant()
    def a_process_that_starts_anew_holds_the_same(self) -> None:
        """What is written says everything, but what is written at the bind."""
        assert held(self.cluster.live) == held(self.told())


def decided(live: Live) -> object:
    """Return which node some pod would get, or why none would take it."""
    pod_class = live.class_of(stored(pod("probe", gpu=1, gpumem=300)))
    found = live.choosing.best(pod_class, NODES)
    if found is None:
        return live.choosing.refusals(pod_class, NODES)
    return live.ledger.names[found.row], found.shares


def held(live: Live) -> dict[str, object]:
    """Return what every pod holds, by the names of nodes."""
    ledger = live.ledger
    by_pod = {
        uid: (ledger.names[each.row], each.shares, each.charges)
        for uid, each in ledger.holdings.items()
    }
    return {"holdings": by_pod, "quotas": ledger.quotas.counts()}


class LiveClusterAtBind(LiveCluster):
    """The same, where reservations are written when pods are bound."""

    writes_at_bind = True


TestLiveAtBind = LiveClusterAtBind.TestCase
TestLiveAtBind.settings = settings(max_examples=30, stateful_step_count=40, deadline=None)
TestLive = LiveCluster.TestCase
TestLive.settings = settings(max_examples=30, stateful_step_count=40, deadline=None)
