"""The rights in deploy/replicas: enough for the store in a cluster, and no more; none of them scales anything."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from springtide.apps.manifests import Choices
from springtide.apps.manifests.rights import role
from springtide.edge.kube import KubeCluster, Waiting
from springtide.edge.machine import MachineCalendar, SeededRng
from springtide.edge.store import ABSENT, Offer, StoreTold, ValuesRead
from springtide.edge.store.kubernetes import KubernetesAccess, KubernetesStore, Pace
from springtide.model.replicas.member import Member, Record
from springtide.model.replicas.settings import ReplicaSettings
from springtide.model.replicas.status import Status
from springtide.model.replicas.values import Folder, ValueKey
from springtide.model.replicas.workload import Workload
from springtide.wire import yaml
from tests.kubeapi import Asked, Direct, KubeApi
from tests.objectstore import ObjectStore
from tests.virtual import LoopClock, run

MANIFEST: Final = Path(__file__).parents[2] / "deploy" / "replicas" / "rbac.yaml"
STATUS: Final = Status(current=1, expect=2, start_ms=1, end_ms=2, scaling_ms=3, generation=1)
SELECTED: Final = re.compile(r"metadata\.name=(?P<name>[^,]+)")

Right = tuple[str, str, str, str]
"""The group, the resource, the name, empty for all, and the verb."""


def rules() -> list[dict[str, Any]]:
    """Return the rules of the role."""
    documents: list[Any] = [
        each.value for each in yaml.documents(MANIFEST.read_bytes(), str(MANIFEST))
    ]
    (role,) = (each for each in documents if each["kind"] == "Role")
    found: list[dict[str, Any]] = role["rules"]
    return found


def granted(listed: Sequence[Mapping[str, Any]] | None = None) -> Iterator[Right]:
    """Yield what rules allow, those of the example unless told."""
    for rule in rules() if listed is None else listed:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for name in rule.get("resourceNames", [""]):
                    yield from ((group, resource, name, verb) for verb in rule["verbs"])


def used(asked: Asked) -> Right:
    """Return the right that a request needs, by name where it may be granted so."""
    matched = re.fullmatch(
        r"/(?:api|apis/(?P<group>[^/]+))/v1/namespaces/default/(?P<resource>\w+)"
        r"(?:/(?P<name>[\w-]+))?(?:/(?P<part>\w+))?",
        asked.path,
    )
    assert matched is not None, asked.path
    resource = "/".join(filter(None, (matched["resource"], matched["part"])))
    selected = SELECTED.fullmatch(asked.query.get("fieldSelector", ""))
    name = matched["name"] or (selected["name"] if selected else "")
    verb = {"POST": "create", "PUT": "update", "PATCH": "patch"}.get(asked.method, "get")
    if not matched["name"] and verb == "get":
        verb = "watch" if "watch" in asked.query else "list"
    return matched["group"] or "", resource, "" if resource == "pods" else name, verb


async def lived(api: KubeApi) -> None:
    """Do all that a member ever does."""
    clock = LoopClock()
    store = KubernetesStore(
        KubeCluster(Direct(api), waiting=Waiting(clock=clock, rng=SeededRng(1))),
        KubernetesAccess(namespace="default", pod="chat-0", workload="chat", selector="app=chat"),
        pace=Pace(clock=clock, calendar=MachineCalendar(), rng=SeededRng(1)),
    )
    told: asyncio.Queue[StoreTold] = asyncio.Queue()
    following = asyncio.create_task(store.follow(told.put_nowait))
    member = await store.own_member(boot="b")
    assert member == Member(id=0, name="chat-0", has_ordinal=True, index=1, boot="b", target="chat")
    await store.join(member)
    lock = await store.acquire("chat-0", ttl_ms=15_000)
    assert lock is not None
    await store.put_status(Offer(token=lock.token, revision=ABSENT, status=STATUS))
    await store.renew(lock.token)
    key = ValueKey(Folder(name="rooms"))
    store.look_at({key.folder})
    await store.put_value(key, "8")
    await store.put_value(key, "9")
    await store.put_record(1, Record(member="chat-0", boot="b", at_ms=1))
    assert await store.replicas() == 3
    while not isinstance(await told.get(), ValuesRead):
        pass
    await store.delete_record(1, "b")
    await store.release(lock.token)
    await store.leave()
    following.cancel()
    await asyncio.wait([following])


def test_the_rights_of_members_are_enough_and_no_more() -> None:
    """Covers R-2 in part."""
    objects = ObjectStore()
    objects.create(
        ("", "pods"), "default", {"metadata": {"name": "chat-0", "labels": {"app": "chat"}}}
    )
    workload = {"metadata": {"name": "chat"}, "status": {"replicas": 3}}
    objects.create(("apps", "statefulsets"), "default", workload)
    api = KubeApi(objects)

    run(lived(api))

    assert {used(each) for each in api.asked} == set(granted())


def test_no_right_of_members_scales_anything() -> None:
    """Covers R-2."""
    rights = list(granted())

    others = [each for each in rights if each[1].startswith(("statefulsets", "deployments"))]
    assert {verb for *_, verb in others} == {"get"}
    assert not any("*" in each for right in rights for each in right)


def test_a_composed_role_grants_what_the_example_does() -> None:
    settings = ReplicaSettings(workload=Workload(name="chat", kind="StatefulSet"))

    composed = role(settings, Choices(namespace="default"))

    assert set(granted(composed["rules"])) == set(granted())
