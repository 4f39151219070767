"""As a plugin of a real kubectl, fetched by `make kubectl` or named in SPRINGTIDE_KUBECTL."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.programs import ROOT, installed
from tools import kubectl as fetching

EXAMPLE = ROOT / "examples" / "card-memory"


@pytest.fixture
def kubectl(tmp_path: Path) -> "Kubectl":
    path = fetching.found()
    if path is None:
        pytest.skip(fetching.MISSING)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "kubectl").symlink_to(path)
    return Kubectl(str(path), installed(folder))


class Kubectl:
    """A kubectl that finds the plugin."""

    def __init__(self, path: str, env: dict[str, str]) -> None:
        self._path = path
        self.env = env

    def __call__(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self._path, *arguments], env=self.env, capture_output=True, text=True, check=False
        )


def test_it_is_listed(kubectl: Kubectl) -> None:
    done = kubectl("plugin", "list")

    assert "kubectl-springtide" in done.stdout
    assert "warning" not in (done.stdout + done.stderr).lower()


def test_it_plans(kubectl: Kubectl) -> None:
    done = kubectl("springtide", "plan", str(EXAMPLE), "-o", "json")

    assert done.returncode == 0
    assert json.loads(done.stdout)["isSatisfied"] is True


def test_its_exit_code_is_the_answers(kubectl: Kubectl) -> None:
    done = kubectl("springtide", "plan", str(EXAMPLE / "cluster.yaml"))

    assert done.returncode == 1


def test_it_is_called_what_people_type(kubectl: Kubectl) -> None:
    helped, mistaken = kubectl("springtide", "plan", "-h"), kubectl("springtide", "pln")

    assert helped.stdout.startswith("Usage: kubectl springtide plan ")
    assert "Try 'kubectl springtide --help' for help." in mistaken.stderr
    assert mistaken.returncode == 2


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["pl"], ["plan\tSay which node groups make pending pods schedulable.", ":4"]),
        (["plan", "--output=j"], ["json", ":4"]),
        (["plan", "--expander", "price,least-n"], ["price,least-nodes", ":4"]),
        (["plan", "--groups", ""], [":0"]),
    ],
)
def test_kubectl_completes_it(words: list[str], offered: list[str], kubectl: Kubectl) -> None:
    done = kubectl("__complete", "springtide", *words)

    assert done.stdout.splitlines() == offered


def test_what_is_piped_in_reaches_it(kubectl: Kubectl) -> None:
    reading, writing = os.pipe()
    os.write(writing, (EXAMPLE / "cluster.yaml").read_bytes())
    os.close(writing)

    done = subprocess.run(
        ["kubectl", "springtide", "plan", "--groups", str(EXAMPLE / "groups.yaml"), "-o", "name"],
        stdin=reading,
        env=kubectl.env,
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(reading)

    assert done.stdout == "nodegroup.springtide.io/l40s\n"
