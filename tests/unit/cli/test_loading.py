"""What a command loads: help answers at once, and offline work loads nothing that talks to servers."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.manifesting import configuration

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import sys
from springtide.cli.main import run
run(sys.argv[1:])
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""
ONLINE = {
    "aiohttp",
    "asyncio",
    "httptools",
    "httpx2",
    "kubernetes",
    "prometheus_client",
    "ssl",
    "uvicorn",
}


def loaded(*arguments: str) -> set[str]:
    """Return the packages that a process has loaded after this command line."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, check=True, text=True
    )
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "arguments", [["--help"], ["plan", "--help"], ["replay", "--help"], ["bench", "openb", "-h"]]
)
def test_help_loads_next_to_nothing(arguments: list[str]) -> None:
    packages = loaded(*arguments)

    assert "click" in packages
    assert packages.isdisjoint({*ONLINE, "numpy", "yaml"})


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan", "examples/warm-group"],
        ["plan", "examples/warm-group", "-n", "team-a", "-o", "json"],
    ],
)
def test_offline_work_loads_nothing_that_talks_to_servers(arguments: list[str]) -> None:
    arguments[1] = str(ROOT / arguments[1])

    packages = loaded(*arguments)

    assert "numpy" in packages
    assert packages.isdisjoint(ONLINE - {"ssl", "asyncio"})


def test_a_benchmark_loads_what_draws_and_what_spreads_only_if_asked() -> None:
    example = ROOT / "examples" / "own-trace"
    lists = ["--nodes", str(example / "nodes.csv"), "--pods", str(example / "pods.csv")]

    packages = loaded("bench", "openb", *lists, "--policy", "fgd", "--seeds", "1")

    assert packages.isdisjoint({*ONLINE, "matplotlib", "distributed"} - {"ssl", "asyncio"})


def test_manifests_of_replicas_load_nothing_that_talks_to_servers(tmp_path: Path) -> None:
    config = tmp_path / "chat.yaml"
    config.write_bytes(msgspec.json.encode(configuration()))
    options = ["--config", str(config), "-n", "game", "-l", "app=chat"]

    assert loaded("replicas", "manifest", *options).isdisjoint(ONLINE)


def test_a_member_that_meets_others_in_etcd_loads_no_client_of_clusters() -> None:
    program = "import springtide.cli.membering, sys; print(*sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )

    assert {"aiohttp", "kubernetes"}.isdisjoint(done.stdout.split())


def test_a_member_in_a_cluster_loads_no_arrays() -> None:
    member = "springtide.cli.membering, springtide.edge.store.kubernetes, springtide.edge.kube"
    program = f"import {member}, sys; print(*sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )

    assert "numpy" not in done.stdout.split()
