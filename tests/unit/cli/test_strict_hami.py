"""`--strict-hami`: answers that turn on a peculiarity of HAMi's scheduler."""

import json
from pathlib import Path
from typing import Any

import pytest

from springtide.cli.main import run
from springtide.wire.hami import register
from tests.unit.vendors.nvidia.building import mig_card

Captured = pytest.CaptureFixture[str]
Json = dict[str, Any]
AMOUNTS = {"cpu": "8", "memory": "64Gi", "pods": "110"}


def pod(name: str, *, instances: int, memory_mib: int, **spec: str) -> Json:
    """Return a pod that wants instances of MIG cards under the topology policy."""
    limits = {"nvidia.com/gpu": str(instances), "nvidia.com/gpumem": str(memory_mib)}
    notes = {"nvidia.com/vgpu-mode": "mig", "hami.io/gpu-scheduler-policy": "topology-aware"}
    container = {"name": "main", "resources": {"limits": limits, "requests": limits}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team", "annotations": notes},
        "spec": {"containers": [container], **spec},
    }


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    """Return the path of a node with two MIG cards, and of pods that want parts and a whole."""
    cards = register.encode([mig_card("GPU-a"), mig_card("GPU-b", index=1)])
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "annotations": {"hami.io/node-nvidia-register": cards}},
        "status": {"allocatable": AMOUNTS, "capacity": AMOUNTS},
    }
    parts = pod("a-parts", instances=2, memory_mib=5000)
    whole = pod("b-whole", instances=1, memory_mib=40000)
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, parts, whole]}))
    return str(path)


@pytest.mark.parametrize(
    ("options", "code", "placed"),
    [([], 1, ["team/a-parts"]), (["--strict-hami"], 0, ["team/a-parts", "team/b-whole"])],
)
def test_strictly_the_instances_of_a_pod_gather_on_one_card(
    cluster: str, options: list[str], code: int, placed: list[str], capsys: Captured
) -> None:
    ended = run(["plan", cluster, "-o", "json", *options])

    answer = json.loads(capsys.readouterr().out)
    assert ended == code
    assert [each["pod"] for each in answer["fitting"]] == placed


@pytest.mark.parametrize("command", [["why", "team/b-whole", "-f"], ["headroom"]])
def test_other_commands_take_it_too(cluster: str, command: list[str], capsys: Captured) -> None:
    ended = run([*command, cluster, "--strict-hami"])

    assert ended in {0, 1}
    assert capsys.readouterr().err == ""
