"""Members of a StatefulSet meet in a real cluster with the rights of deploy/replicas, and with no others.

Pods are objects that nobody starts: what a kubelet would report is written on them.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import pytest
from msgspec.structs import replace

from springtide.edge.cluster import STATEFUL_SETS, Denied, Metadata, Target
from springtide.edge.kube import Access, Connection, KubeCluster, Waiting, connect
from springtide.edge.kube.transport import MERGE_PATCH, Request
from springtide.edge.machine import MachineCalendar, MachineClock, SeededRng
from springtide.edge.store import ABSENT, MembersRead, Offer, RecordsRead, StatusRead, ValuesRead
from springtide.edge.store.kubernetes import KubernetesAccess, KubernetesStore, Pace
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.status import Status
from springtide.model.replicas.values import Folder, ValueKey
from tests.contract.stores import Heard, eventually
from tests.e2e.commands import Setup
from tests.e2e.controlplane import MISSING, ControlPlane, assets, control_plane
from tests.e2e.rights import grant
from tests.unit.test_deploy_replicas import MANIFEST, granted

PROGRAMS = assets()
USER: Final = "system:serviceaccount:default:chat"
PODS: Final = "/api/v1/namespaces/default/pods"
SETS: Final = "/apis/apps/v1/namespaces/default/statefulsets"
SCALE: Final = f"{SETS}/chat/scale"
AUDIT: Final = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "users": [USER]}, {"level": "None"}],
}
PATIENCE_S: Final = 20.0
LIMIT: Final = ValueKey(Folder(name="rooms"), "eu/limit")
FIRST: Final = 5

pytestmark = [
    pytest.mark.skipif(PROGRAMS is None, reason=MISSING),
    pytest.mark.timeout(120),
]


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A server that writes down who asks for what, with three pods of a workload that counts from five."""
    assert PROGRAMS is not None
    folder = tmp_path_factory.mktemp("control-plane")
    policy = folder / "audit.json"
    policy.write_text(json.dumps(AUDIT), encoding="utf-8")
    setup = Setup(
        users={"chat": f"chat-token,{USER},9"},
        api_flags=[
            f"--audit-policy-file={policy}",
            f"--audit-log-path={folder / 'audit.log'}",
            "--audit-log-mode=blocking",
        ],
    )
    with control_plane(PROGRAMS, folder, setup) as found:
        grant(found, MANIFEST)
        found.create(SETS, a_workload())
        status = {"status": {"replicas": 3}}
        found.ask("PATCH", f"{SETS}/chat/status", status, content_type=MERGE_PATCH)
        yield found


@pytest.fixture(autouse=True)
def pods(plane: ControlPlane) -> Iterator[None]:
    """Make three pods that run, and take away what a test has made."""
    for ordinal in range(FIRST, FIRST + 3):
        start_pod(plane, f"chat-{ordinal}")
    yield
    plane.ask("DELETE", PODS, {"gracePeriodSeconds": 0})
    plane.ask("DELETE", "/api/v1/namespaces/default/configmaps")
    plane.ask("DELETE", "/apis/coordination.k8s.io/v1/namespaces/default/leases")


def a_workload() -> dict[str, Any]:
    labels = {"app": "chat"}
    return {
        "metadata": {"name": "chat"},
        "spec": {
            "replicas": 3,
            "ordinals": {"start": FIRST},
            "serviceName": "chat",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "image"}]},
            },
        },
    }


def start_pod(plane: ControlPlane, name: str) -> None:
    """Make a pod as its controller does, on a node, and say that it runs."""
    spec = {"nodeName": "node", "containers": [{"name": "main", "image": "image"}]}
    plane.create(PODS, {"metadata": {"name": name, "labels": {"app": "chat"}}, "spec": spec})
    report(plane, name, phase="Running", podIP=f"10.0.0.{name[-1]}", restarts=0)


def report(plane: ControlPlane, name: str, *, restarts: int, **status: str) -> None:
    """Say of a pod what a kubelet does."""
    container = {
        "name": "main",
        "restartCount": restarts,
        "ready": True,
        "image": "image",
        "imageID": "image",
        "state": {"running": {"startedAt": "2026-11-30T20:00:00Z"}},
    }
    body = {"status": {**status, "containerStatuses": [container]}}
    plane.ask("PATCH", f"{PODS}/{name}/status", body, content_type=MERGE_PATCH)


@asynccontextmanager
async def connected(plane: ControlPlane) -> AsyncIterator[Connection]:
    async with await connect(Access(kubeconfig=plane.kubeconfig("chat"))) as connection:
        yield connection


def a_store(connection: Connection, pod: str) -> KubernetesStore:
    clock = MachineClock()
    return KubernetesStore(
        KubeCluster(connection, waiting=Waiting(clock=clock, rng=SeededRng(1))),
        KubernetesAccess(
            namespace="default", pod=pod, workload="chat", selector="app=chat", port=8080
        ),
        pace=Pace(clock=clock, calendar=MachineCalendar(), rng=SeededRng(1)),
    )


@asynccontextmanager
async def three(plane: ControlPlane) -> AsyncIterator[tuple[list[KubernetesStore], list[Heard]]]:
    """Let three members follow, and join."""
    async with AsyncExitStack() as stack:
        connection = await stack.enter_async_context(connected(plane))
        names = [f"chat-{ordinal}" for ordinal in range(FIRST, FIRST + 3)]
        stores = [a_store(connection, name) for name in names]
        heard = [Heard(PATIENCE_S) for _ in stores]
        tasks = [
            asyncio.create_task(store.follow(each))
            for store, each in zip(stores, heard, strict=True)
        ]
        try:
            for name, store in zip(names, stores, strict=True):
                await store.join(await store.own_member(boot=f"{name}/first"))
            yield stores, heard
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def test_members_meet_with_these_rights_alone(plane: ControlPlane) -> None:
    """Covers R-2, R-37 in part. Numbers begin at one wherever ordinals do."""
    decided = Status(current=3, expect=2, start_ms=1, end_ms=2, scaling_ms=3, generation=1)

    async def work() -> None:
        async with three(plane) as ((a, b, _), (heard, *_)):
            there = await heard.settles(
                MembersRead, lambda read: all(each.boot.endswith("first") for each in read.members)
            )
            lock = await a.acquire("chat-5", ttl_ms=15_000)
            assert lock is not None
            revision = await a.put_status(Offer(token=lock.token, revision=ABSENT, status=decided))
            await a.renew(lock.token)
            await b.put_record(2, Record(member="chat-6", boot="b", at_ms=1))
            told = await heard.settles(StatusRead, lambda read: read.status is not None)
            await heard.settles(RecordsRead, lambda read: set(read.records) == {2})
            a.look_at({LIMIT.folder})
            for text in ("8", "9"):
                await b.put_value(LIMIT, text)
            wanted = ValuesRead({LIMIT.folder: {LIMIT.subkey: "9"}})
            await heard.settles(ValuesRead, wanted.__eq__)

            assert [each.index for each in there.members] == [1, 2, 3]
            assert [each.address for each in there.members] == [
                "10.0.0.5:8080",
                "10.0.0.6:8080",
                "10.0.0.7:8080",
            ]
            assert told == StatusRead(status=decided, revision=revision)
            assert await b.acquire("chat-6", ttl_ms=15_000) is None
            assert await b.replicas() == 3
            await b.delete_record(2, "b")
            await a.release(lock.token)
            assert await b.acquire("chat-6", ttl_ms=15_000) is not None
            await a.leave()
            await heard.settles(MembersRead, lambda read: len(read.members) == 2)

    since = len(written_down(plane))
    asyncio.run(work())
    asked = list(audited(plane, since))

    assert asked
    assert {right for right, _ in asked} <= {right[:2] + right[3:] for right in granted()}
    assert {code for _, code in asked} <= {200, 201, 404}


def test_no_member_may_scale_anything(plane: ControlPlane) -> None:
    """Covers R-2. By the server's own answer, and by what it has written down."""
    workload = Target(resource=STATEFUL_SETS, namespace="default", name="chat")

    async def work() -> None:
        async with connected(plane) as connection:
            cluster = KubeCluster(
                connection, waiting=Waiting(clock=MachineClock(), rng=SeededRng(1))
            )
            assert (await cluster.read_scale(workload)).wanted == 3
            with pytest.raises(Denied):
                await cluster.patch(workload, Metadata(labels={"a": "b"}))
            for method, body in (
                ("PATCH", {"spec": {"replicas": 1}}),
                ("PUT", {"metadata": {"name": "chat"}, "spec": {"replicas": 1}}),
            ):
                for path in (SCALE, f"{SETS}/chat"):
                    answer = await connection.send(
                        Request(method=method, path=path, body=body, content_type=MERGE_PATCH)
                    )
                    assert answer.status == 403, (method, path)

    since = len(written_down(plane))
    asyncio.run(work())

    assert plane.ask("GET", SCALE)["spec"]["replicas"] == 3
    refused = {right for right, code in audited(plane, since) if code == 403}
    assert refused == {
        ("apps", resource, verb)
        for resource in ("statefulsets", "statefulsets/scale")
        for verb in ("patch", "update")
    }


def test_a_pod_that_is_about_to_end_stays_a_member_while_its_label_stands(
    plane: ControlPlane,
) -> None:
    async def work() -> None:
        async with three(plane) as ((_, _, last), (heard, *_)):
            member = await last.own_member(boot="chat-7/first")
            await last.join(ready(member))
            await heard.settles(MembersRead, lambda read: read.members[-1].is_ready)
            path = f"{PODS}/chat-7"
            await asyncio.to_thread(plane.ask, "DELETE", path, {"gracePeriodSeconds": 30})
            ending = await heard.settles(MembersRead, lambda read: read.members[-1].is_stopping)
            await last.join(member)
            drained = await heard.settles(MembersRead, lambda read: not read.members[-1].is_ready)
            await asyncio.to_thread(plane.ask, "DELETE", path, {"gracePeriodSeconds": 0})
            gone = await heard.settles(MembersRead, lambda read: len(read.members) == 2)

            assert ending.members[-1].name == "chat-7"
            assert (ending.members[-1].is_ready, ending.members[-1].is_alive) == (True, False)
            assert drained.members[-1].is_stopping
            assert [each.name for each in gone.members] == ["chat-5", "chat-6"]

    asyncio.run(work())


def test_a_container_that_was_restarted_serves_no_more_until_it_says_so(
    plane: ControlPlane,
) -> None:
    """Covers F-14 in part. What the killed run had written on its pod counts no longer, but its record does."""

    async def work() -> None:
        async with three(plane) as ((first, second, _), (heard, *_)):
            await second.join(ready(await second.own_member(boot="chat-6/first")))
            await second.put_record(2, Record(member="chat-6", boot="chat-6/first", at_ms=1))
            await heard.settles(MembersRead, lambda read: read.members[1].is_ready)
            async with connected(plane) as connection:
                # Nobody says anything for this one, as for a process that was killed.
                silent = a_store(connection, "chat-7")
                await silent.join(ready(await silent.own_member(boot="chat-7/again")))
                await heard.settles(MembersRead, lambda read: read.members[2].is_ready)
                await asyncio.to_thread(report, plane, "chat-7", restarts=1)
                killed = await heard.settles(MembersRead, lambda read: not read.members[2].is_ready)
                await silent.join(await silent.own_member(boot="chat-7/third"))
                back = await heard.settles(
                    MembersRead, lambda read: read.members[2].boot == "chat-7/third"
                )

            assert killed.members[2].boot != "chat-7/again"
            assert not back.members[2].is_ready
            assert set(heard.all(RecordsRead)[-1].records) == {2}

            async def is_kept() -> bool:
                pod = await asyncio.to_thread(plane.ask, "GET", f"{PODS}/chat-6")
                return bool(pod["metadata"]["labels"].get("hpa_scaling_ready") == "1")

            body = {"metadata": {"labels": {"hpa_scaling_ready": None}}}
            await asyncio.to_thread(
                plane.ask, "PATCH", f"{PODS}/chat-6", body, content_type=MERGE_PATCH
            )
            await eventually(is_kept, patience_s=PATIENCE_S)
            assert first is not second

    asyncio.run(work())


def ready(member: Member) -> Member:
    """Return the member as one that serves."""
    return replace(member, is_target=True, is_ready=True)


def written_down(plane: ControlPlane) -> list[str]:
    """Return what the server has noted of the account, a line for each answer."""
    return plane.site.file("audit.log").read_text(encoding="utf-8").splitlines()


def audited(plane: ControlPlane, since: int) -> Iterator[tuple[tuple[str, str, str], int]]:
    """Yield what right of the account each request needed, and the code of its answer."""
    for event in map(json.loads, written_down(plane)[since:]):
        told = event["objectRef"]
        resource = "/".join(filter(None, (told["resource"], told.get("subresource"))))
        yield (told.get("apiGroup", ""), resource, event["verb"]), event["responseStatus"]["code"]
