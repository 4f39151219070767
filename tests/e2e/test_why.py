"""`springtide why` about a pod of a real cluster: asked of the extender by way of the API server's proxy."""

import json
import socket
from pathlib import Path
from typing import Any, Final

import pytest

from springtide.cli.main import run
from tests.e2e.commands import Setup
from tests.e2e.conftest import Planes
from tests.e2e.controlplane import ControlPlane
from tests.e2e.fleets import running_fleet
from tests.e2e.objects import PODS, a_pod
from tests.e2e.ours import extender, free_port, share_of_a_card
from tests.e2e.waiting import eventually
from tests.standin.live import gpu_node

NAME: Final = "extender"
MERGE: Final = "application/merge-patch+json"
NOTE: Final = "running extender"
Captured = pytest.CaptureFixture[str]

pytestmark = pytest.mark.timeout(180)


def own_address() -> str:
    """Return an address of this machine at which API servers let Services be: not the loopback one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: it is only found out which way it would go.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return ""
        address: str = probe.getsockname()[0]
    return "" if address.startswith("127.") else address


def serve(plane: ControlPlane, address: str, port: int) -> None:
    """Create the extender's Service, as the chart has it, with the one pod behind it."""
    replica = a_pod("extender-0", nodeName="elsewhere")
    plane.create(PODS, replica)
    addresses = {"podIP": address, "podIPs": [{"ip": address}]}
    plane.ask("PATCH", f"{PODS}/extender-0/status", {"status": addresses}, content_type=MERGE)
    labels = {"app.kubernetes.io/component": "hami-scheduler"}
    ports = [{"name": "http", "port": port}]
    plane.create(
        "/api/v1/namespaces/default/services",
        {"metadata": {"name": NAME, "labels": labels}, "spec": {"ports": ports}},
    )
    plane.create(
        "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
        {
            "metadata": {"name": NAME, "labels": {"kubernetes.io/service-name": NAME}},
            "addressType": "IPv4",
            "endpoints": [
                {
                    "addresses": [address],
                    "conditions": {"ready": True},
                    "targetRef": {"kind": "Pod", "name": "extender-0", "namespace": "default"},
                }
            ],
            "ports": ports,
        },
    )


def asked(plane: ControlPlane, capsys: Captured, *arguments: str) -> Any:
    """Ask about a pod, and return the answer as JSON."""
    run(["why", *arguments, "--kubeconfig", plane.kubeconfig("admin"), "-o", "json"])
    return json.loads(capsys.readouterr().out)


def test_the_extender_answers_through_the_api_server_and_the_cluster_without_it(
    planes: Planes, tmp_path: Path, capsys: Captured
) -> None:
    address, port = own_address(), free_port()
    if not address:
        pytest.skip("this machine has no address but the loopback one")
    plane = planes(Setup())
    pod = share_of_a_card("big", memory_mib=900_000, cores=10)
    plane.create(PODS, pod)
    serve(plane, address, port)
    options = (f"--http_bind=0.0.0.0:{port}",)

    with (
        running_fleet(plane, [gpu_node("gpu-1", cards=2)]),
        extender(plane, port, tmp_path / "extender.log", options=options),
    ):
        live = eventually(
            lambda: asked(plane, capsys, "pod/big"),
            lambda found: NOTE in str(found["input"]["notes"]) and found["input"]["nodes"] == 1,
        )
        whole = asked(plane, capsys, "pod/big", "-A")
    alone = asked(plane, capsys, "pod/big")

    reasons = [each["pods"][0]["verdicts"][0]["reason"] for each in (live, whole, alone)]
    assert reasons == ["2/2 CardInsufficientMemory"] * 3
    assert NOTE not in str(whole["input"]["notes"])
    assert NOTE not in str(alone["input"]["notes"])
