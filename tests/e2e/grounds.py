"""What all workloads of a chain stand on: the plane, its kubelet and who watches, and commands as operators give them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.controlplane import ControlPlane
from tests.e2e.kubelets import Kubelet
from tests.e2e.ours import free_port
from tests.e2e.podwatch import PodWatch
from tools import kubectl as fetching


class Grounds:
    """The kubelet and the watch begin with the chain."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self.plane = plane
        self.folder = folder
        self.prometheus = f"http://127.0.0.1:{free_port()}"
        self.kubelet: Kubelet
        self.watch: PodWatch

    def kubectl(self, *arguments: str, text: str = "", user: str = "admin") -> str:
        """Return what kubectl prints."""
        done = self.tries(*arguments, text=text, user=user)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tries(
        self, *arguments: str, text: str = "", user: str = "admin"
    ) -> "subprocess.CompletedProcess[str]":
        """Return what kubectl does."""
        program = fetching.found()
        if program is None:
            pytest.skip(fetching.MISSING)
        command = [str(program), f"--kubeconfig={self.plane.kubeconfig(user)}", *arguments]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def springtide(*words: str) -> str:
    """Run our command, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "springtide", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
