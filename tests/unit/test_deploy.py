"""The examples in deploy/: what they set up is read, and the rights that they grant are those that are used."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from springtide.apps.extender import Candidacy, Deadlines, Settings
from springtide.edge.kube import Access, KubeCluster, Waiting, connect
from springtide.edge.machine import MachineClock, SeededRng
from springtide.model.lease import Lease
from springtide.model.profile import MISMATCH_TAINT
from springtide.wire import yaml
from springtide.wire.crd.extender import read_extender
from springtide.wire.k8s.leases import lease_object
from springtide.wire.origin import Origin
from tests.apiserver import kubeconfig
from tests.kubeapi import Asked, KubeApi, served
from tests.memorycluster import LEASE_PLACE
from tests.profiles import CARDS, POOL, document
from tests.running import NODES, PODS, Standing, World, run, running, until

DEPLOY = Path(__file__).parents[2] / "deploy" / "extender"
OURS = "springtide-extender"
PROFILES = ("springtide.io", "deviceprofiles")
SPACE = "kube-system"
HOST = "springtide-extender-1"
WRITES = {"POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}
SELDOM = {("", "nodes", "get"), ("", "pods", "get"), ("", "events", "patch")}
"""What is used only after a conflict, for a lock of somebody else, or when an event happens again."""

Right = tuple[str, str, str]


def documents(name: str) -> list[Any]:
    """Return the documents of an example."""
    path = DEPLOY / name
    return [each.value for each in yaml.documents(path.read_bytes(), str(path))]


def granted() -> set[Right]:
    """Return what the extender's own roles allow, but for the kube-scheduler beside it."""
    return {
        (group, resource, verb)
        for each in documents("rbac.yaml")
        if each["kind"] in ("ClusterRole", "Role") and each["metadata"]["name"] == OURS
        for rule in each["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def right(asked: Asked) -> Right:
    """Return the right that a request needs."""
    steps = asked.path.removeprefix("/").split("/")
    group, rest = ("", steps[2:]) if steps[0] == "api" else (steps[1], steps[3:])
    if rest[0] == "namespaces" and len(rest) > 2:
        rest = rest[2:]
    resource = "/".join([rest[0], *rest[2:]])
    if asked.method != "GET":
        return group, resource, WRITES[asked.method]
    verb = "watch" if "watch" in asked.query else "get" if len(rest) > 1 else "list"
    return group, resource, verb


def conditions(world: World) -> list[str]:
    """Return what is said on the profile."""
    status = world.store.read(PROFILES, "", "a10").get("status", {})
    return [each["type"] for each in status.get("conditions", [])]


def is_tainted(world: World) -> bool:
    """Return whether the node is kept from pods."""
    taints = world.store.read(NODES, "", "a")["spec"].get("taints") or []
    return any(each["key"] == MISMATCH_TAINT for each in taints)


async def kept(extender: Standing, world: World) -> None:
    """Let the controller of profiles go on until everything is told."""
    profiles = extender.process.profiles
    assert profiles is not None
    for _ in range(10_000):
        if conditions(world) and is_tainted(world):
            return
        await profiles.turn()
        await asyncio.sleep(0)
    raise AssertionError("it never came to that")


def test_the_rights_are_enough_and_no_more(tmp_path: Path) -> None:
    world = World()
    world.add_node("a")
    world.store.merge(NODES, "", "a", {"metadata": {"labels": POOL}})
    labels = {"app.kubernetes.io/component": "hami-scheduler"}
    replica = {"metadata": {"name": HOST, "namespace": SPACE, "labels": labels}, "spec": {}}
    world.store.create(PODS, SPACE, replica)
    lease = Lease(namespace=SPACE, name="hami-scheduler", holder=f"{HOST}_1", duration_s=3600)
    held = msgspec.structs.replace(lease, renewed="2026-01-01T00:00:00.000000Z")
    world.store.create(LEASE_PLACE, SPACE, lease_object(held))
    settings = Settings(
        pod_name=HOST, pod_namespace=SPACE, keeps_profiles=True, deadlines=Deadlines(drain_s=1.0)
    )
    api = KubeApi(world.store)

    async def work(folder: Path) -> None:
        waiting = Waiting(clock=MachineClock(), rng=SeededRng(1), pause=asyncio.sleep)
        async with served(api) as url:
            access = Access(kubeconfig=kubeconfig(folder / "config", url))
            async with (
                await connect(access) as connection,
                running(
                    KubeCluster(connection, waiting=waiting),
                    settings=settings,
                    candidacy=Candidacy(namespace=SPACE, name=lease.name, identity=HOST),
                ) as extender,
            ):
                await until(lambda: extender.process.scheduling.is_leading)
                pod = world.add_pod("train", gpu=1)
                assert (await extender.filter(pod, "a"))["NodeNames"] == ["a"]
                assert await extender.bind(pod, "a") == ""
                await extender.settled()
                world.store.create(PROFILES, "", document(devices=[{**CARDS, "count": 3}]))
                await kept(extender, world)

    run(work(tmp_path))
    used = {right(each) for each in api.asked}

    assert used <= granted()
    assert granted() - used <= SELDOM


def embedded() -> Iterator[tuple[str, Any]]:
    """Yield the files of the ConfigMap with their content."""
    (config_map,) = documents("configuration.yaml")
    for name, text in config_map["data"].items():
        (found,) = yaml.documents(text.encode(), name)
        yield name, found


def test_the_configuration_of_the_extender_is_one() -> None:
    found = dict(embedded())["extender.yaml"]

    document = read_extender(found.value, origin=Origin(source="extender.yaml", document=found))

    assert document.leader_election.enabled
    assert document.device_config is not None


def test_both_programs_of_the_pod_go_by_one_lease_and_one_name() -> None:
    found = {name: each.value for name, each in embedded()}
    scheduler, extender = found["scheduler.yaml"], found["extender.yaml"]

    election = scheduler["leaderElection"]
    assert extender["leaderElection"] == {
        "enabled": election["leaderElect"],
        "namespace": election["resourceNamespace"],
        "name": election["resourceName"],
    }
    assert scheduler["profiles"][0]["schedulerName"] == extender["schedulerName"]
    port = extender["bindAddress"].rpartition(":")[2]
    assert scheduler["extenders"][0]["urlPrefix"].endswith(f":{port}")


def test_the_webhook_reviews_what_the_service_of_the_leader_is_sent() -> None:
    (registration,) = documents("webhook.yaml")
    deployment, service = documents("deployment.yaml")

    hook = registration["webhooks"][0]
    assert hook["clientConfig"]["service"]["name"] == service["metadata"]["name"]
    assert hook["clientConfig"]["service"]["path"] == "/webhook"
    selector = dict(service["spec"]["selector"])
    assert selector.pop("hami.io/scheduler-role") == "leader"
    assert selector.items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
