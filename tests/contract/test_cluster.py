"""The promises of the `Cluster` port, held to each implementation: in memory, over HTTP, and real.

A real kube-apiserver is tried where `KUBEBUILDER_ASSETS` names one.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import msgspec
import pytest

from springtide.base.quantity import parse
from springtide.base.taints import Taint
from springtide.edge.cluster import (
    CONFIG_MAP,
    CONFIG_MAPS,
    EVENTS,
    LEASE,
    NODES,
    PODS,
    STATEFUL_SETS,
    Added,
    AlreadyThere,
    BudgetSpent,
    Change,
    Cluster,
    Conflict,
    Deleted,
    Invalid,
    Kind,
    Metadata,
    NotFound,
    Scope,
    Skipped,
    Synced,
    Target,
    Updated,
    node,
    pod,
    raw,
)
from springtide.edge.kube import Access, KubeCluster, Waiting, connect
from springtide.edge.machine import MachineClock, SeededRng
from springtide.model.config_map import ConfigMap
from springtide.model.lease import Lease
from springtide.model.node import Node
from springtide.model.occurrence import Occurrence, Regarding
from springtide.model.scale import Scale
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import Parts, decode_node
from springtide.wire.k8s.scales import decode_ordinals_start
from tests.apiserver import kubeconfig
from tests.e2e.controlplane import MISSING, ControlPlane, assets, control_plane
from tests.kubeapi import KubeApi, served
from tests.memorycluster import MemoryCluster
from tests.objectstore import Object, ObjectStore

PROGRAMS = assets()
NAMESPACE = "t"
WHEN = "2026-11-30T20:00:00.000000Z"
LATER = "2026-11-30T20:00:02.000000Z"


class Labels(msgspec.Struct, frozen=True):
    """What these tests read of an object."""

    name: str
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class _Read(msgspec.Struct, frozen=True):
    metadata: Labels


def labels_of(data: msgspec.Raw) -> Labels:
    read = msgspec.json.decode(data, type=_Read).metadata
    if "unreadable" in read.labels:
        raise MalformedObject("metadata.labels", "it says that it cannot be read.")
    return read


POD_LABELS: Kind[Labels] = Kind(PODS, labels_of)
POD_RAW: Kind[bytes] = Kind(PODS, raw)


class World(Protocol):
    """A cluster, and somebody else who creates and protects objects in it."""

    @property
    def cluster(self) -> Cluster: ...

    async def create(self, made: Object) -> None: ...

    async def protect(self, name: str) -> None: ...


class Made(msgspec.Struct):
    """A world over a store."""

    cluster: Any
    store: ObjectStore

    async def create(self, made: Object) -> None:
        group, kind = made["apiVersion"].rpartition("/")[0], made["kind"].lower() + "s"
        self.store.create((group, kind), "" if kind == "nodes" else NAMESPACE, made)

    async def protect(self, name: str) -> None:
        self.store.protected.add(name)


class Real(msgspec.Struct):
    """A world of a real API server."""

    cluster: Any
    plane: ControlPlane

    async def create(self, made: Object) -> None:
        kind, version = made["kind"].lower() + "s", made["apiVersion"]
        place = kind if kind == "nodes" else f"namespaces/{NAMESPACE}/{kind}"
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        await asyncio.to_thread(self.plane.create, f"{root}/{place}", made)

    async def protect(self, name: str) -> None:
        budget = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"name": name}}},
        }
        path = f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets"
        await asyncio.to_thread(self.plane.create, path, budget)


Build: TypeAlias = Callable[[], Any]


def waiting() -> Waiting:
    return Waiting(clock=MachineClock(), rng=SeededRng(1), pause=asyncio.sleep)


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane | None]:
    """The real API server, if there is one."""
    if PROGRAMS is None:
        yield None
        return
    with control_plane(PROGRAMS, tmp_path_factory.mktemp("control-plane")) as found:
        found.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        yield found


@pytest.fixture(params=["memory", "http", "real"])
def build(request: pytest.FixtureRequest, tmp_path: Path, plane: ControlPlane | None) -> Build:
    """What opens a world of each implementation."""
    if request.param == "real" and plane is None:
        pytest.skip(MISSING)

    @asynccontextmanager
    async def in_memory() -> AsyncIterator[World]:
        store = ObjectStore()
        yield Made(MemoryCluster(store), store)

    @asynccontextmanager
    async def over_http() -> AsyncIterator[World]:
        store = ObjectStore()
        async with served(KubeApi(store, page_objects=2)) as url:
            access = Access(kubeconfig=kubeconfig(tmp_path / "config", url))
            async with await connect(access) as connection:
                yield Made(KubeCluster(connection, waiting=waiting()), store)

    @asynccontextmanager
    async def real() -> AsyncIterator[World]:
        assert plane is not None
        access = Access(kubeconfig=plane.kubeconfig("admin"))
        async with await connect(access) as connection:
            yield Real(KubeCluster(connection, waiting=waiting()), plane)

    worlds: dict[str, Build] = {"memory": in_memory, "http": over_http, "real": real}
    return worlds[request.param]


def played(build: Build, play: Callable[[World], Awaitable[None]]) -> None:
    """Open a world and run a play in it."""

    async def whole() -> None:
        async with build() as world:
            await play(world)

    asyncio.run(whole())


def a_pod(name: str, **metadata: Any) -> Object:
    labels = {"name": name, **metadata.pop("labels", {})}
    container = {"name": "main", "image": "image"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels, **metadata},
        "spec": {"containers": [container]},
    }


def a_node(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


class Following:
    """Somebody who follows labels of pods."""

    def __init__(self) -> None:
        self._changes: asyncio.Queue[Change[Labels]] = asyncio.Queue(1)

    async def __call__(self, change: Change[Labels]) -> None:
        await self._changes.put(change)

    async def until_synced(self) -> list[Change[Labels]]:
        """Return what is told up to the end of the list."""
        told: list[Change[Labels]] = []
        while not isinstance(change := await self._changes.get(), Synced):
            told.append(change)
        return told

    async def next(self) -> Change[Labels]:
        """Return the next change that is one."""
        while isinstance(change := await self._changes.get(), Synced):
            pass
        return change


@asynccontextmanager
async def followed(world: World, scope: Scope) -> AsyncIterator[Following]:
    """Follow pods as long as the block."""
    following = Following()
    task = asyncio.create_task(world.cluster.follow(POD_LABELS, following, scope=scope))
    try:
        yield following
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()


def test_what_there_is_is_told_and_then_what_changes(build: Build) -> None:
    async def play(world: World) -> None:
        scope = Scope(namespace=NAMESPACE, labels="play=follow")
        marked = {"play": "follow"}
        for name in ("f-1", "f-2", "f-3"):
            await world.create(a_pod(name, labels=marked))
        await world.create(a_pod("f-other"))

        async with followed(world, scope) as following:
            listed = await following.until_synced()
            await world.create(a_pod("f-4", labels=marked))
            added = await following.next()
            version = await world.cluster.patch(
                pod(NAMESPACE, "f-4"), Metadata(annotations={"a": "1"})
            )
            updated = await following.next()
            await world.cluster.patch(pod(NAMESPACE, "f-3"), Metadata(labels={"play": None}))
            unmarked = await following.next()
            await world.cluster.delete(pod(NAMESPACE, "f-1"), grace_s=0)
            # A real server first marks what is to be deleted.
            while not isinstance(deleted := await following.next(), Deleted):
                assert isinstance(deleted, Updated)

        assert [type(each) for each in listed] == [Added] * 3
        assert [each.key for each in listed if isinstance(each, Added)] == [
            "t/f-1",
            "t/f-2",
            "t/f-3",
        ]
        assert isinstance(added, Added)
        assert added.record.name == "f-4"
        assert isinstance(updated, Updated)
        assert (updated.uid, updated.version) == (added.uid, version)
        assert updated.record.annotations == {"a": "1"}
        assert isinstance(unmarked, Deleted)
        assert unmarked.key == "t/f-3"
        assert deleted.key == "t/f-1"

    played(build, play)


def test_an_object_that_cannot_be_read_is_told_and_the_others_go_on(build: Build) -> None:
    async def play(world: World) -> None:
        scope = Scope(namespace=NAMESPACE, labels="play=skip")
        marked = {"play": "skip"}
        await world.create(a_pod("s-1", labels={**marked, "unreadable": "yes"}))
        await world.create(a_pod("s-2", labels=marked))

        async with followed(world, scope) as following:
            listed = await following.until_synced()
            await world.cluster.patch(pod(NAMESPACE, "s-1"), Metadata(labels={"unreadable": None}))
            readable = await following.next()

        assert [type(each) for each in listed] == [Skipped, Added]
        assert isinstance(listed[0], Skipped)
        assert listed[0].key == "t/s-1"
        assert "cannot be read" in listed[0].why
        assert isinstance(readable, Added)
        assert readable.record.name == "s-1"

    played(build, play)


def test_an_object_is_read_as_it_is(build: Build) -> None:
    async def play(world: World) -> None:
        await world.create(a_pod("r-1"))

        found = await world.cluster.read(POD_LABELS, "r-1", namespace=NAMESPACE)
        bytes_found = await world.cluster.read(POD_RAW, "r-1", namespace=NAMESPACE)

        assert found.labels == {"name": "r-1"}
        assert msgspec.json.decode(bytes_found)["spec"]["containers"][0]["image"] == "image"
        with pytest.raises(NotFound, match="r-0"):
            await world.cluster.read(POD_LABELS, "r-0", namespace=NAMESPACE)

    played(build, play)


def test_a_patch_sets_and_removes_and_leaves_the_rest(build: Build) -> None:
    async def play(world: World) -> None:
        await world.create(a_pod("p-1", annotations={"gone": "1", "kept": "1"}))
        target = pod(NAMESPACE, "p-1")

        await world.cluster.patch(
            target, Metadata(annotations={"gone": None, "new": "ü,:;"}, labels={"l": "1"})
        )

        found = await world.cluster.read(POD_LABELS, "p-1", namespace=NAMESPACE)
        assert found.annotations == {"kept": "1", "new": "ü,:;"}
        assert found.labels == {"name": "p-1", "l": "1"}

    played(build, play)


def test_a_patch_of_what_has_changed_or_is_another_is_a_conflict(build: Build) -> None:
    async def play(world: World) -> None:
        await world.create(a_node("n-1"))
        change = Metadata(annotations={"lock": "1"})
        version = await world.cluster.patch(node("n-1"), change)
        await world.cluster.patch(node("n-1", version=version), Metadata(labels={"l": "1"}))

        with pytest.raises(Conflict, match="n-1"):
            await world.cluster.patch(node("n-1", version=version), change)
        with pytest.raises(Conflict, match="n-1"):
            await world.cluster.patch(node("n-1", uid="another"), change)
        with pytest.raises(NotFound, match="n-0"):
            await world.cluster.patch(node("n-0"), change)

    played(build, play)


def test_a_pod_is_bound_once(build: Build) -> None:
    async def play(world: World) -> None:
        await world.create(a_pod("b-1"))
        target = pod(NAMESPACE, "b-1")
        with pytest.raises(Conflict, match="b-1"):
            await world.cluster.bind(pod(NAMESPACE, "b-1", uid="another"), "n-1")

        await world.cluster.bind(target, "n-1")

        bound = await world.cluster.read(POD_RAW, "b-1", namespace=NAMESPACE)
        assert msgspec.json.decode(bound)["spec"]["nodeName"] == "n-1"
        with pytest.raises(Conflict, match="b-1"):
            await world.cluster.bind(target, "n-2")
        with pytest.raises(NotFound, match="b-0"):
            await world.cluster.bind(pod(NAMESPACE, "b-0"), "n-1")

    played(build, play)


def test_an_eviction_heeds_budgets(build: Build) -> None:
    async def play(world: World) -> None:
        await world.create(a_pod("e-1"))
        await world.create(a_pod("e-2"))
        # A pod that has not started counts for no budget.
        await world.cluster.bind(pod(NAMESPACE, "e-2"), "n-1")
        await world.cluster.patch_status(pod(NAMESPACE, "e-2"), {"phase": "Running"})
        await world.protect("e-2")

        await world.cluster.evict(pod(NAMESPACE, "e-1"))

        with pytest.raises(NotFound):
            await world.cluster.read(POD_LABELS, "e-1", namespace=NAMESPACE)
        with pytest.raises(BudgetSpent, match="e-2"):
            await world.cluster.evict(pod(NAMESPACE, "e-2"))
        with pytest.raises(NotFound, match="e-0"):
            await world.cluster.evict(pod(NAMESPACE, "e-0"))

    played(build, play)


def test_only_what_is_meant_is_deleted(build: Build) -> None:
    async def play(world: World) -> None:
        await world.create(a_pod("d-1"))

        with pytest.raises(Conflict, match="d-1"):
            await world.cluster.delete(pod(NAMESPACE, "d-1", uid="another"))
        await world.cluster.delete(pod(NAMESPACE, "d-1"), grace_s=0)
        with pytest.raises(NotFound, match="d-1"):
            await world.cluster.delete(pod(NAMESPACE, "d-1"))

    played(build, play)


def test_taints_come_and_go_and_those_of_others_stay(build: Build) -> None:
    theirs = Taint(key="theirs", value="yes", effect="NoExecute")
    before = Taint(key="ours", value="before", effect="NoSchedule")
    after = Taint(key="ours", value="after", effect="NoSchedule")

    async def play(world: World) -> None:
        await world.cluster.create_node(Node(name="t-1", taints=(theirs,)))
        target = node("t-1")

        await world.cluster.taint(target, before)
        first = await taints(world, "t-1")
        await world.cluster.taint(target, after)
        second = await taints(world, "t-1")
        await world.cluster.untaint(target, before)
        kept = await taints(world, "t-1")
        await world.cluster.untaint(target, after)
        last = await taints(world, "t-1")

        assert first == {theirs, before}
        assert second == kept == {theirs, after}
        assert last == {theirs}
        await world.cluster.untaint(target, theirs)
        assert await taints(world, "t-1") == set()

    played(build, play)


def test_a_node_that_is_another_or_has_changed_is_not_tainted(build: Build) -> None:
    ours = Taint(key="ours", effect="NoSchedule")

    async def play(world: World) -> None:
        made = await world.cluster.create_node(Node(name="t-2"))
        await world.cluster.patch(node("t-2"), Metadata(labels={"l": "1"}))

        with pytest.raises(Conflict, match="t-2"):
            await world.cluster.taint(made, ours)
        with pytest.raises(Conflict, match="t-2"):
            await world.cluster.taint(node("t-2", uid="another"), ours)
        with pytest.raises(NotFound, match="t-0"):
            await world.cluster.taint(node("t-0"), ours)
        assert await taints(world, "t-2") == set()
        await world.cluster.taint(node("t-2", uid=made.uid), ours)
        assert await taints(world, "t-2") == {ours}

    played(build, play)


async def taints(world: World, name: str) -> set[Taint]:
    """Return the taints of a node, but for those that the API server gives to new ones."""
    read = msgspec.json.decode(await world.cluster.read(Kind(NODES, raw), name))
    listed = msgspec.convert(read.get("spec", {}).get("taints") or [], tuple[Taint, ...])
    return {each for each in listed if not each.key.startswith("node.kubernetes.io/")}


def test_a_status_is_merged_and_the_rest_stays(build: Build) -> None:
    async def play(world: World) -> None:
        made = await world.cluster.create_node(Node(name="s-1", labels={"kept": "yes"}))

        await world.cluster.patch_status(made, {"capacity": {"example.com/card": "2"}})
        version = await world.cluster.patch_status(node("s-1"), {"capacity": {"cpu": "8"}})

        found = msgspec.json.decode(await world.cluster.read(Kind(NODES, raw), "s-1"))
        assert found["status"]["capacity"] == {"example.com/card": "2", "cpu": "8"}
        assert found["metadata"]["labels"]["kept"] == "yes"
        assert found["metadata"]["resourceVersion"] == version
        with pytest.raises(Conflict, match="s-1"):
            await world.cluster.patch_status(made, {"capacity": {"cpu": "9"}})
        with pytest.raises(NotFound, match="s-0"):
            await world.cluster.patch_status(node("s-0"), {})

    played(build, play)


def test_a_node_is_created_once_as_it_is_described(build: Build) -> None:
    described = Node(
        name="c-1",
        labels={"pool": "a"},
        annotations={"note": "ü"},
        taints=(Taint(key="ours", effect="NoSchedule"),),
        is_unschedulable=True,
        provider_id="cloud://c-1",
        capacity=(("cpu", parse("8")), ("example.com/card", parse("2"))),
        allocatable=(("cpu", parse("7500m")),),
        conditions={"Ready": "True"},
    )

    async def play(world: World) -> None:
        made = await world.cluster.create_node(described)

        found = decode_node(await world.cluster.read(Kind(NODES, raw), "c-1"), Parts())
        for field in ("labels", "annotations", "capacity", "allocatable", "provider_id"):
            assert getattr(found, field) == getattr(described, field)
        assert (found.uid, found.is_unschedulable) == (made.uid, True)
        assert found.conditions == described.conditions
        assert described.taints[0] in found.taints
        with pytest.raises(AlreadyThere, match="c-1"):
            await world.cluster.create_node(described)

        await world.cluster.delete(node("c-1", uid=made.uid))
        with pytest.raises(NotFound, match="c-1"):
            await world.cluster.read(Kind(NODES, raw), "c-1")
        again = await world.cluster.create_node(described)
        assert again.uid != made.uid
        with pytest.raises(Conflict, match="c-1"):
            await world.cluster.delete(node("c-1", uid=made.uid))

    played(build, play)


def test_a_node_that_cannot_be_is_invalid(build: Build) -> None:
    async def play(world: World) -> None:
        with pytest.raises(Invalid, match="No_Name"):
            await world.cluster.create_node(Node(name="No_Name"))

    played(build, play)


def test_an_event_is_created_once_and_counted_on(build: Build) -> None:
    occurrence = Occurrence(
        name="pod.1",
        namespace=NAMESPACE,
        regarding=Regarding(kind="Pod", namespace=NAMESPACE, name="pod", uid="u"),
        reason="FilteringFailed",
        message="1 of 1 nodes lack memory.",
        component="springtide",
        first="2026-11-30T20:00:00Z",
        last="2026-11-30T20:00:00Z",
        is_warning=True,
    )
    again = msgspec.structs.replace(occurrence, count=2, last="2026-11-30T20:01:00Z")

    async def play(world: World) -> None:
        await world.cluster.record(occurrence)
        with pytest.raises(AlreadyThere, match=r"pod\.1"):
            await world.cluster.record(occurrence)
        await world.cluster.recount(again)

        data = await world.cluster.read(Kind(EVENTS, raw), "pod.1", namespace=NAMESPACE)
        event = msgspec.json.decode(data)
        assert (event["count"], event["type"], event["reason"]) == (2, "Warning", "FilteringFailed")
        assert event["involvedObject"]["name"] == "pod"
        assert event["lastTimestamp"] == "2026-11-30T20:01:00Z"

    played(build, play)


def test_a_lease_is_written_by_who_saw_it_last(build: Build) -> None:
    lease = Lease(
        namespace=NAMESPACE, name="office", holder="a", duration_s=15, acquired=WHEN, renewed=WHEN
    )

    async def play(world: World) -> None:
        with pytest.raises(NotFound, match="office"):
            await world.cluster.read_lease(NAMESPACE, "office")
        first = await world.cluster.create_lease(lease)
        with pytest.raises(AlreadyThere, match="office"):
            await world.cluster.create_lease(lease)
        second = await world.cluster.replace_lease(msgspec.structs.replace(first, renewed=LATER))
        with pytest.raises(Conflict, match="office"):
            await world.cluster.replace_lease(msgspec.structs.replace(first, holder="b"))

        found = await world.cluster.read_lease(NAMESPACE, "office")
        assert found == second
        assert found == msgspec.structs.replace(lease, renewed=LATER, version=second.version)
        released = msgspec.structs.replace(found, holder="", duration_s=1)
        assert (await world.cluster.replace_lease(released)).holder == ""

    played(build, play)


def test_a_lease_is_followed(build: Build) -> None:
    lease = Lease(namespace=NAMESPACE, name="followed", holder="a", duration_s=15, renewed=WHEN)
    seen: asyncio.Queue[Change[Lease]] = asyncio.Queue(1)

    async def play(world: World) -> None:
        scope = Scope(namespace=NAMESPACE, fields="metadata.name=followed")
        task = asyncio.create_task(world.cluster.follow(LEASE, seen.put, scope=scope))
        assert isinstance(await seen.get(), Synced)

        first = await world.cluster.create_lease(lease)
        added = await seen.get()

        assert isinstance(added, Added)
        assert added.record == first
        task.cancel()
        await asyncio.wait([task])

    played(build, play)


def test_texts_are_kept_and_changed_by_who_saw_them_last(build: Build) -> None:
    config = ConfigMap(namespace=NAMESPACE, name="texts", data={"a": "1", "b": "2"})
    target = Target(resource=CONFIG_MAPS, namespace=NAMESPACE, name="texts")

    async def play(world: World) -> None:
        with pytest.raises(NotFound, match="texts"):
            await world.cluster.patch_data(target, {"a": "3"})
        made = await world.cluster.create_config_map(config)
        with pytest.raises(AlreadyThere, match="texts"):
            await world.cluster.create_config_map(config)
        seen = msgspec.structs.replace(target, version=made.version)
        changed = await world.cluster.patch_data(seen, {"a": None, "c": "ü\n"})
        with pytest.raises(Conflict, match="texts"):
            await world.cluster.patch_data(seen, {"a": "4"})
        with pytest.raises(Conflict, match="texts"):
            await world.cluster.patch_data(
                msgspec.structs.replace(target, uid="another"), {"a": "4"}
            )

        assert made.data == config.data
        assert changed.data == {"b": "2", "c": "ü\n"}
        assert (changed.uid, changed.version == made.version) == (made.uid, False)
        found = await world.cluster.read(CONFIG_MAP, "texts", namespace=NAMESPACE)
        assert found == changed

    played(build, play)


def test_a_workload_tells_how_many_pods_it_wants_and_has(build: Build) -> None:
    labels = {"app": "chat"}
    template = {"metadata": {"labels": labels}, "spec": a_pod("any")["spec"]}
    made = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "chat"},
        "spec": {
            "replicas": 4,
            "ordinals": {"start": 5},
            "serviceName": "chat",
            "selector": {"matchLabels": labels},
            "template": template,
        },
    }
    target = Target(resource=STATEFUL_SETS, namespace=NAMESPACE, name="chat")
    starts = Kind(STATEFUL_SETS, decode_ordinals_start)

    async def play(world: World) -> None:
        with pytest.raises(NotFound, match="chat"):
            await world.cluster.read_scale(target)
        await world.create(made)
        await world.cluster.patch_status(target, {"replicas": 3})

        assert await world.cluster.read_scale(target) == Scale(wanted=4, current=3)
        assert await world.cluster.read(starts, "chat", namespace=NAMESPACE) == 5

    played(build, play)


def test_kinds_do_not_mix(build: Build) -> None:
    async def play(world: World) -> None:
        await world.create(a_node("k-1"))
        await world.create(a_pod("k-1"))

        await world.cluster.patch(node("k-1"), Metadata(labels={"of": "node"}))

        found = await world.cluster.read(Kind(NODES, labels_of), "k-1")
        other = await world.cluster.read(POD_LABELS, "k-1", namespace=NAMESPACE)
        assert (found.labels.get("of"), other.labels.get("of")) == ("node", None)

    played(build, play)
