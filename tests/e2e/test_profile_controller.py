"""Nodes that register what their profile promises, more, less, nonsense or nothing, on a real control plane."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from springtide.model.device import Device
from springtide.wire import yaml
from springtide.wire.hami import register
from tests.builders import REGISTRATION, card
from tests.e2e.commands import Object, Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import running_fleet
from tests.e2e.objects import NODES
from tests.e2e.test_profile_definition import DEFINITIONS, PROFILES, is_listed
from tests.e2e.waiting import eventually
from tests.profiles import CARDS, definition, document
from tests.standin.bodies import FakeNode
from tests.standin.plugin import NVIDIA, Devices

TAINT: Final = "springtide.io/device-mismatch"
EVENTS: Final = "/api/v1/namespaces/default/events"
KEEPER: Final = "keeper"
ROLE: Final = "springtide-extender"
ROLES: Final = "/apis/rbac.authorization.k8s.io/v1"
RIGHTS: Final = Path(__file__).parents[2] / "deploy" / "extender" / "rbac.yaml"
MERGE: Final = "application/merge-patch+json"
pytestmark = pytest.mark.timeout(240)


def cards(name: str, count: int = 2, **fields: Any) -> tuple[Device, ...]:
    """Return the cards of a node, as its plugin registers them."""
    return tuple(
        replace(card(f"GPU-{name}-{each}"), index=each, mode="hami-core", **fields)
        for each in range(count)
    )


def a_node(name: str, pool: str, devices: tuple[Device, ...] = ()) -> FakeNode:
    """Return a node of a pool; without devices it registers none."""
    own = (Devices(family=NVIDIA, devices=devices),) if devices else ()
    return FakeNode(name=name, labels={"pool": pool}, devices=own)


def a_profile(pool: str, **spec: Any) -> Object:
    """Return the profile of a pool, with two cards a node."""
    return document(pool, nodeSelector={"matchLabels": {"pool": pool}}, **spec)


def grant(plane: ControlPlane) -> None:
    """Let whoever keeps profiles do what the extender of `deploy/` may, and nothing else."""
    documents: list[Any] = [each.value for each in yaml.documents(RIGHTS.read_bytes(), RIGHTS.name)]
    (role,) = [
        each
        for each in documents
        if each["kind"] == "ClusterRole" and each["metadata"]["name"] == ROLE
    ]
    plane.create(f"{ROLES}/clusterroles", role)
    binding = {
        "metadata": {"name": KEEPER},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ROLE},
        "subjects": [{"kind": "User", "name": KEEPER, "apiGroup": "rbac.authorization.k8s.io"}],
    }
    plane.create(f"{ROLES}/clusterrolebindings", binding)


@contextmanager
def keeper(plane: ControlPlane, folder: Path) -> Iterator[None]:
    """Run an extender that keeps profiles while the block is entered."""
    config = folder / "extender.yaml"
    said = {
        "apiVersion": "springtide.io/v1alpha1",
        "kind": "ExtenderConfiguration",
        "bindAddress": "127.0.0.1:0",
        "metricsBindAddress": "",
        "shutdownDelay": "0s",
        "deviceProfiles": {"enabled": True},
    }
    config.write_text(json.dumps(said), encoding="utf-8")
    command = [sys.executable, "-m", "springtide", "extender", f"--config={config}"]
    with (folder / "extender.log").open("ab") as told:
        process = subprocess.Popen(
            [*command, f"--kubeconfig={plane.kubeconfig(KEEPER)}"], env=os.environ, stderr=told
        )
        try:
            yield
        finally:
            process.kill()
            process.wait()


def status(plane: ControlPlane, name: str) -> Any:
    return plane.ask("GET", f"{PROFILES}/{name}").get("status", {})


def conditions(plane: ControlPlane, name: str) -> dict[str, tuple[str, str]]:
    """Return what is said of a profile: each condition's status and reason."""
    found = status(plane, name).get("conditions", [])
    return {each["type"]: (each["status"], each["reason"]) for each in found}


def taints(plane: ControlPlane, name: str) -> list[str]:
    found = plane.ask("GET", f"{NODES}/{name}")["spec"].get("taints", [])
    return [each["key"] for each in found if each["key"].startswith("springtide.io")]


def reasons(plane: ControlPlane) -> dict[str, set[str]]:
    """Return the reasons of all events on nodes, by node."""
    found: dict[str, set[str]] = {}
    for each in plane.ask("GET", EVENTS)["items"]:
        if each["involvedObject"]["kind"] == "Node":
            found.setdefault(each["involvedObject"]["name"], set()).add(each["reason"])
    return found


def said(plane: ControlPlane, names: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    """Return what is said of each profile: whether it is verified, and whether degraded."""
    found = {name: conditions(plane, name) for name in names}
    return {
        name: (each.get("Verified", ("", ""))[1], each.get("Degraded", ("", ""))[0])
        for name, each in found.items()
    }


def test_every_outcome_is_told_on_node_and_profile_and_outlives_a_restart(
    planes: Planes, tmp_path: Path
) -> None:
    plane = planes(Setup(users={KEEPER: f"{KEEPER}-token,{KEEPER},9"}))
    grant(plane)
    plane.create(DEFINITIONS, definition())
    eventually(lambda: is_listed(plane), bool)
    nodes = [
        a_node("right-1", "right", cards("right")),
        a_node("more-1", "more", cards("more", 3)),
        a_node("wrong-1", "wrong", cards("wrong", 1)),
        a_node("reported-1", "reported", cards("reported", 2, memory_mib=8192)),
        a_node("adopted-1", "adopted", cards("adopted", 2, memory_mib=8192)),
        a_node("garbled-1", "garbled"),
        a_node("silent-1", "silent"),
    ]
    profiles = {
        "right": {},
        "more": {},
        "wrong": {},
        "reported": {"onMismatch": "Report"},
        "adopted": {"onMismatch": "Adopt"},
        "garbled": {},
        "silent": {"registrationTimeout": "3s"},
        "unused": {},
    }
    for pool, spec in profiles.items():
        plane.create(PROFILES, a_profile(pool, **spec))
    expected = {
        "right": ("DeviceProfileVerified", "False"),
        "more": ("DeviceProfileExceeded", "False"),
        "wrong": ("DeviceProfileMismatch", "True"),
        "reported": ("DeviceProfileMismatch", "False"),
        "adopted": ("DeviceProfileAdopted", "False"),
        "garbled": ("DeviceRegistrationMalformed", "True"),
        "silent": ("DeviceRegistrationTimeout", "True"),
        "unused": ("NoNodes", "False"),
    }

    with running_fleet(plane, nodes):
        eventually(lambda: len(plane.ask("GET", NODES)["items"]), lambda seen: seen == len(nodes))
        garbled = {"metadata": {"annotations": {REGISTRATION: "[{"}}}
        plane.ask("PATCH", f"{NODES}/garbled-1", garbled, content_type=MERGE)
        theirs = {"spec": {"taints": [{"key": TAINT, "effect": "NoSchedule"}]}}
        plane.ask("PATCH", f"{NODES}/right-1", theirs, content_type=MERGE)

        with keeper(plane, tmp_path):
            first = eventually(lambda: said(plane, profiles), lambda seen: seen == expected)
            tainted = eventually(
                lambda: [each.name for each in nodes if taints(plane, each.name)],
                lambda seen: len(seen) == 3,
            )
        versions = {name: plane.ask("GET", f"{PROFILES}/{name}")["metadata"] for name in profiles}
        told = reasons(plane)
        events = {each["metadata"]["name"] for each in plane.ask("GET", EVENTS)["items"]}

        with keeper(plane, tmp_path):
            # What was wrong is made right: one node by its plugin, one by the profile.
            whole = register.encode(cards("garbled"))
            mended = {"metadata": {"annotations": {REGISTRATION: whole}}}
            plane.ask("PATCH", f"{NODES}/garbled-1", mended, content_type=MERGE)
            lower = {"spec": {"devices": [{**CARDS, "count": 1}]}}
            plane.ask("PATCH", f"{PROFILES}/wrong", lower, content_type=MERGE)
            better = expected | {
                "garbled": ("DeviceProfileVerified", "False"),
                "wrong": ("DeviceProfileVerified", "False"),
            }
            second = eventually(lambda: said(plane, profiles), lambda seen: seen == better)
            left = eventually(
                lambda: [each.name for each in nodes if taints(plane, each.name)],
                lambda seen: seen == ["right-1"],
            )
        after = {name: plane.ask("GET", f"{PROFILES}/{name}")["metadata"] for name in profiles}
        adopted = status(plane, "adopted")["lastVerified"]
        again = {each["metadata"]["name"] for each in plane.ask("GET", EVENTS)["items"]} - events
        differing = status(plane, "reported")["mismatches"]

    assert first == expected
    assert sorted(tainted) == ["garbled-1", "right-1", "wrong-1"]
    assert told["right-1"] == {"DeviceProfileVerified"}
    assert told["more-1"] == {"DeviceProfileExceeded"}
    assert told["wrong-1"] == {"DeviceProfileMismatch"}
    assert told["reported-1"] == {"DeviceProfileMismatch"}
    assert "DeviceProfileMismatch" in told["adopted-1"]
    assert told["garbled-1"] == {"DeviceRegistrationMalformed"}
    assert told["silent-1"] == {"DeviceRegistrationTimeout"}
    assert second == better
    assert left == ["right-1"]
    assert adopted["devices"][0]["memoryMiB"] == 8192
    assert adopted["generation"] == 1
    assert [(each["node"], each["reason"]) for each in differing] == [
        ("reported-1", "DeviceProfileMismatch")
    ]
    # What was said before the restart is not said again.
    unchanged = set(profiles) - {"garbled", "wrong"}
    assert {name: after[name]["resourceVersion"] for name in unchanged} == {
        name: versions[name]["resourceVersion"] for name in unchanged
    }
    assert {name.rpartition(".")[0] for name in again} <= {"garbled-1", "wrong-1"}
