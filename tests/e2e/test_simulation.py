"""Groups that are warm or cold, grown by an autoscaler that asks the simulation, on a real control plane.

A kube-scheduler that sends whole nodes (`nodeCacheCapable: false`) decides live, and the simulation beside it
answers what a further node would do; neither is ever taken for the other.
"""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from springtide.client import Client, Denied, Server, Unreachable
from springtide.wire import yaml
from springtide.wire.hami import register
from tests.builders import REGISTRATION
from tests.e2e.commands import Object, Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import running_fleet
from tests.e2e.objects import NODES, PODS, annotations, phases, readiness
from tests.e2e.ours import configured, extender, free_port, share_of_a_card
from tests.e2e.test_profile_controller import MERGE, a_node, a_profile, cards
from tests.e2e.test_profile_definition import DEFINITIONS, PROFILES, is_listed
from tests.e2e.waiting import eventually
from tests.profiles import CARDS, definition
from tests.simulators import CLIENT, Papers

ALLOCATED: Final = "hami.io/vgpu-devices-allocated"
MEMORY: Final = 24_576
RIGHTS: Final = Path(__file__).parents[2] / "deploy" / "simulation" / "rbac.yaml"
ROLES: Final = "/apis/rbac.authorization.k8s.io/v1"
ROBOT: Final = "robot"
CALLER: Final = "caller"
pytestmark = pytest.mark.timeout(240)


def half(name: str, pool: str) -> Object:
    """Return a pod of a pool of which two fill a card of it."""
    pod = share_of_a_card(name, memory_mib=MEMORY // 2, cores=50)
    pod["spec"]["nodeSelector"] = {"pool": pool}
    return pod


def why(plane: ControlPlane, name: str) -> str:
    """Return what kube-scheduler says of a pod that it has not placed."""
    conditions = plane.ask("GET", f"{PODS}/{name}")["status"].get("conditions", [])
    found: list[str] = [each.get("message", "") for each in conditions if each["status"] == "False"]
    return " ".join(found)


def place(plane: ControlPlane, name: str) -> str:
    """Return the node of a pod, empty if it has none."""
    found: str = plane.ask("GET", f"{PODS}/{name}")["spec"].get("nodeName", "")
    return found


def state(plane: ControlPlane) -> list[Any]:
    """Return everything that a decision could have changed."""
    pods = [each["metadata"] for each in plane.ask("GET", PODS)["items"]]
    nodes = [each["metadata"]["annotations"] for each in plane.ask("GET", NODES)["items"]]
    return [pods, nodes]


@contextmanager
def simulation(plane: ControlPlane, folder: Path, port: int) -> Iterator[Client]:
    """Run the extender with a simulation beside it, and give an autoscaler its client."""
    papers, simulated = Papers(folder), free_port()
    files = papers.files
    options = (
        f"--simulation-bind-address=127.0.0.1:{simulated}",
        f"--simulation-cert-file={files.certificate}",
        f"--simulation-key-file={files.key}",
        f"--simulation-client-ca-file={files.client_authorities}",
        f"--simulation-identity={CLIENT}",
    )
    certificate, key, authority = papers.written(CLIENT)
    server = Server(
        url=f"https://localhost:{simulated}", ca_file=authority, cert_file=certificate, key_file=key
    )
    with (
        extender(plane, port, folder / "extender.log", options=options) as process,
        Client(server) as client,
    ):
        eventually(lambda: answers(client), bool)
        yield client
        process.terminate()
        assert process.wait(60) == 0


def answers(client: Client) -> bool:
    """Return whether the simulation is there."""
    try:
        client.filter(half("probe", "any"), [])
    except Unreachable:
        return False
    return True


def template(plane: ControlPlane, node: str) -> Object:
    """Return the node that an autoscaler would add to the group of this one."""
    found: Object = plane.ask("GET", f"{NODES}/{node}")
    metadata = found["metadata"]
    kept = {
        "name": "template",
        "labels": metadata["labels"],
        "annotations": metadata["annotations"],
    }
    return {**found, "metadata": kept}


def fits(client: Client, pod: Object, node: Object) -> bool:
    """Return whether a pod would fit a node."""
    answer = client.filter(pod, [node])
    assert answer.nodes is not None
    return bool(answer.nodes.items)


def registers(plane: ControlPlane, node: str) -> None:
    """Let the plugin of a node come up."""
    text = register.encode(cards(node, 1, memory_mib=MEMORY))
    said = {"metadata": {"annotations": {REGISTRATION: text}}}
    plane.ask("PATCH", f"{NODES}/{node}", said, content_type=MERGE)


def is_ready(plane: ControlPlane, node: str) -> bool:
    """Return whether a node is."""
    return readiness(plane).get(node) == "True"


def code(port: int, path: str) -> int:
    """Return how the live listener answers a post."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=b"{}", method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as fault:
        return fault.code


def test_a_warm_group_and_a_cold_one_grow_as_it_was_simulated(
    planes: Planes, tmp_path: Path
) -> None:
    port = free_port()
    whole_nodes = {**configured(port), "nodeCacheCapable": False}
    plane = planes(Setup(has_controllers=True, extenders=(whole_nodes,)))
    plane.create(DEFINITIONS, definition())
    eventually(lambda: is_listed(plane), bool)
    plane.create(PROFILES, a_profile("cold", devices=[{**CARDS, "count": 1, "memoryMiB": MEMORY}]))
    warm = a_node("warm-1", "warm", cards("warm", 1, memory_mib=MEMORY))

    with running_fleet(plane, [warm]), simulation(plane, tmp_path, port) as client:
        for name in ("p1", "p2"):
            plane.create(PODS, half(name, "warm"))
        eventually(lambda: phases(plane), lambda seen: [*seen.values()] == ["Running"] * 2)
        for name, pool in (("p3", "warm"), ("c1", "cold")):
            plane.create(PODS, half(name, pool))
        refused = eventually(
            lambda: why(plane, "p3"), lambda seen: "CardInsufficientMemory" in seen
        )
        eventually(lambda: why(plane, "c1"), bool)
        before = state(plane)
        pod = plane.ask("GET", f"{PODS}/p3")
        simulated = [
            fits(client, pod, template(plane, "warm-1")),
            fits(client, pod, {"metadata": {"name": "template", "labels": {"pool": "cold"}}}),
            fits(client, pod, {"metadata": {"name": "template", "labels": {"pool": "other"}}}),
        ]
        after = state(plane)
        live = [annotations(plane, f"{PODS}/{name}").get(ALLOCATED) for name in ("p1", "p2", "p3")]

        with running_fleet(plane, [a_node("warm-2", "warm"), a_node("cold-1", "cold")]):
            eventually(
                lambda: [is_ready(plane, name) for name in ("warm-2", "cold-1")],
                all,
            )
            unregistered = eventually(
                lambda: [why(plane, name) for name in ("p3", "c1")],
                lambda seen: all("node unregistered" in each for each in seen),
            )
            waiting = [place(plane, name) for name in ("p3", "c1")]
            for name in ("warm-2", "cold-1"):
                registers(plane, name)
            bound = eventually(lambda: [place(plane, name) for name in ("p3", "c1")], all)

        codes = [code(port, "/filter-simulation"), code(port, "/v1/estimate")]

    assert "1/1 CardInsufficientMemory" in refused
    assert simulated == [True, True, False]
    assert before == after
    assert [bool(each) for each in live] == [True, True, False]
    assert len(unregistered) == 2
    assert waiting == ["", ""]
    assert bound == ["warm-2", "cold-1"]
    assert codes == [404, 404]
    assert b'"event":"bug"' not in (tmp_path / "extender.log").read_bytes()


def grant(plane: ControlPlane) -> None:
    """Let a robot do what `deploy/simulation` grants, and nothing else."""
    documents: list[Any] = [each.value for each in yaml.documents(RIGHTS.read_bytes(), RIGHTS.name)]
    (role,) = [each for each in documents if each["kind"] == "ClusterRole"]
    plane.create(f"{ROLES}/clusterroles", role)
    binding = {
        "metadata": {"name": ROBOT},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": role["metadata"]["name"],
        },
        "subjects": [{"kind": "User", "name": ROBOT, "apiGroup": "rbac.authorization.k8s.io"}],
    }
    plane.create(f"{ROLES}/clusterrolebindings", binding)


@contextmanager
def alone(plane: ControlPlane, papers: Papers, port: int) -> Iterator[None]:
    """Run a simulation with these rights while the block is entered."""
    files = papers.files
    said = {
        "apiVersion": "springtide.io/v1alpha1",
        "kind": "ExtenderConfiguration",
        "shutdownDelay": "0s",
        "simulation": {
            "bindAddress": f"127.0.0.1:{port}",
            "tls": {"certFile": files.certificate, "keyFile": files.key},
            "identities": [CALLER],
            "tokenReview": {"enabled": True},
        },
    }
    config = papers.folder / "simulation.yaml"
    config.write_text(json.dumps(said))
    command = [
        sys.executable, "-m", "springtide", "extender", "--simulation-only",
        f"--config={config}", f"--kubeconfig={plane.kubeconfig(ROBOT)}",
    ]  # fmt: skip
    with (papers.folder / "simulation.log").open("wb") as log:
        process = subprocess.Popen(command, stderr=log)
        try:
            yield
            process.terminate()
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()


def test_tokens_are_reviewed_and_profiles_followed_with_the_rights_of_the_example(
    planes: Planes, tmp_path: Path
) -> None:
    users = {
        name: f"{name}-token,{name},{number}" for number, name in enumerate((ROBOT, CALLER), 9)
    }
    plane = planes(Setup(users=users))
    grant(plane)
    plane.create(DEFINITIONS, definition())
    eventually(lambda: is_listed(plane), bool)
    papers, port = Papers(tmp_path), free_port()
    cold: Object = {"metadata": {"name": "template", "labels": {"pool": "cold"}}}
    pod = half("p", "cold")

    def caller(token: str) -> Client:
        url = f"https://localhost:{port}"
        return Client(Server(url=url, ca_file=papers.files.client_authorities, token=token))

    with (
        alone(plane, papers, port),
        caller(f"{CALLER}-token") as known,
        caller(f"{ROBOT}-token") as unlisted,
        caller("made-up") as unknown,
    ):
        eventually(lambda: answers(known), bool)
        before = fits(known, pod, cold)
        plane.create(
            PROFILES, a_profile("cold", devices=[{**CARDS, "count": 1, "memoryMiB": MEMORY}])
        )
        after = eventually(lambda: fits(known, pod, cold), bool)
        with pytest.raises(Denied, match=f"{ROBOT} may not call"):
            unlisted.filter(pod, [cold])
        with pytest.raises(Denied, match="not one that the API server knows"):
            unknown.filter(pod, [cold])

    assert (before, after) == (False, True)
    told = (tmp_path / "simulation.log").read_text()
    assert '"level":"error"' not in told
    assert "-token" not in told
