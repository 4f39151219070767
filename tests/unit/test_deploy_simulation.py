"""The examples in deploy/simulation: what they set up is read, and they grant what is used and nothing else."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from springtide.apps.simulation import Access
from springtide.edge.kube import Access as KubeAccess
from springtide.edge.kube import Follower, TokenReviews, Waiting, connect
from springtide.edge.machine import MachineClock, SeededRng
from springtide.wire import yaml
from springtide.wire.crd.extender import ExtenderDocument, read_extender
from springtide.wire.crd.simulation import SimulationEntry, check_simulation
from springtide.wire.origin import Origin
from tests.apiserver import kubeconfig
from tests.kubeapi import KubeApi, Reply, served
from tests.objectstore import ObjectStore
from tests.running import run, until
from tests.simulators import limited, simulator

DEPLOY = Path(__file__).parents[2] / "deploy" / "simulation"
NAME = "springtide-simulation"
USER = "system:serviceaccount:kube-system:cluster-autoscaler"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"


def documents(name: str) -> list[Any]:
    """Return the documents of an example."""
    path = DEPLOY / name
    return [each.value for each in yaml.documents(path.read_bytes(), str(path))]


def configured() -> ExtenderDocument:
    """Return the configuration in the ConfigMap."""
    (config_map,) = documents("configuration.yaml")
    ((name, text),) = config_map["data"].items()
    (found,) = yaml.documents(text.encode(), name)
    return read_extender(found.value, origin=Origin(source=name, document=found))


def section() -> SimulationEntry:
    """Return the section of the configuration."""
    entry = configured().simulation
    assert entry is not None
    return entry


def granted() -> set[tuple[str, str, str]]:
    """Return what the role allows."""
    return {
        (group, resource, verb)
        for each in documents("rbac.yaml")
        if each["kind"] == "ClusterRole"
        for rule in each["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_the_configuration_is_one() -> None:
    check_simulation(section(), origin=Origin(source="simulation.yaml"))

    assert configured().device_config is not None


def test_what_is_granted_is_what_is_used(tmp_path: Path) -> None:
    api = KubeApi(ObjectStore())
    review = {"status": {"authenticated": True, "user": {"username": USER}, "audiences": ["us"]}}
    api.scripted.append((REVIEWS, Reply(status=201, body=msgspec.json.encode(review))))

    async def work(folder: Path) -> None:
        waiting = Waiting(clock=MachineClock(), rng=SeededRng(1), pause=asyncio.sleep)
        async with (
            served(api) as url,
            await connect(KubeAccess(kubeconfig=kubeconfig(folder / "config", url))) as connection,
            simulator(
                folder,
                settings=limited(access=Access(identities=frozenset(section().identities))),
                follow=Follower(connection, waiting=waiting).follow,
                review=TokenReviews(connection, audiences=["us"]).user,
            ) as server,
        ):
            await server.process.ready.wait()
            answer = await server.ask(
                "GET", "/readyz", tls=server.papers.anonymous(), extra="Authorization: Bearer t\r\n"
            )
            assert answer.body == b"ok"
            await until(lambda: any("watch" in each.query for each in api.asked))

    run(work(tmp_path))
    used = {
        (
            each.path.split("/")[2],
            each.path.split("/")[4],
            "create" if each.method == "POST" else "watch" if "watch" in each.query else "list",
        )
        for each in api.asked
    }

    assert used == granted()


def test_ports_names_and_files_are_those_of_the_configuration() -> None:
    deployment, service = documents("deployment.yaml")
    (policy,) = documents("networkpolicy.yaml")
    pod = deployment["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    mounts = {each["mountPath"] for each in container["volumeMounts"]}
    entry = section()

    assert entry.bind_address.endswith(f":{ports['https']}")
    assert entry.metrics_bind_address.endswith(f":{ports['metrics']}")
    files = (entry.tls.cert_file, entry.tls.key_file, entry.tls.client_ca_file)
    assert {str(Path(each).parent) for each in files} <= mounts
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    used = {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]}
    assert used == set(ports)
    assert pod["spec"]["serviceAccountName"] == NAME
