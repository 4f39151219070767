"""The guide for rolling replicas out, as tests read it: its blocks of commands, and a shell that runs them."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tools import kubectl as fetching

ROOT: Final = Path(__file__).resolve().parents[1]
GUIDE: Final = ROOT / "docs" / "replicas-rollout.md"
FILES: Final = ROOT / "examples" / "replicas-rollout"
BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND_S_MAX: Final = 60


def guide() -> str:
    """Return the text of the guide."""
    return GUIDE.read_text(encoding="utf-8")


def blocks(text: str) -> list[tuple[bool, list[str]]]:
    """Return the commands of each block, and whether they need no cluster."""
    return [(language == "sh", block.splitlines()) for language, block in BLOCK.findall(text)]


class Shell:
    """A shell in a folder with the files of the guide, that finds both programs."""

    def __init__(self, folder: Path, **environment: str) -> None:
        kubectl = fetching.found()
        if kubectl is None:
            pytest.skip(fetching.MISSING)
        self.folder = folder / "work"
        programs = folder / "bin"
        programs.mkdir()
        (programs / "kubectl").symlink_to(kubectl)
        springtide = programs / "springtide"
        springtide.write_text(f'#!/bin/sh\nexec {sys.executable} -m springtide "$@"\n')
        springtide.chmod(0o755)
        shutil.copytree(FILES, self.folder)
        self._environment: Mapping[str, str] = {
            "PATH": f"{programs}:/usr/bin:/bin",
            "PYTHONPATH": str(ROOT / "src"),
            **environment,
        }

    def run(self, command: str) -> str:
        """Return what a command prints that must not fail."""
        done = subprocess.run(
            ["/bin/sh", "-e", "-c", command],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=COMMAND_S_MAX,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        return done.stdout
