"""Where the programs of the control plane are looked for, and how they are built."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.controlplane.build import KUBERNETES, MODULE, PROGRAMS, VARIABLE, cached, found

BUILD = MODULE / "build.py"


def filled(folder: Path, names: Sequence[str] = PROGRAMS) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()
    return folder


def test_a_folder_that_is_named_comes_first(tmp_path: Path) -> None:
    environ = {VARIABLE: str(tmp_path / "named"), "XDG_CACHE_HOME": str(tmp_path)}
    filled(cached(environ))
    named = filled(tmp_path / "named")

    assert found(environ=environ) == named


def test_a_folder_that_lacks_a_program_does_for_those_who_do_not_need_it(tmp_path: Path) -> None:
    environ = {VARIABLE: str(tmp_path / "named"), "XDG_CACHE_HOME": str(tmp_path)}
    named = filled(tmp_path / "named", PROGRAMS[:2])
    built = filled(cached(environ))

    assert found(environ=environ) == built
    assert found(PROGRAMS[:2], environ=environ) == named


def test_nothing_is_found_where_nothing_was_built(tmp_path: Path) -> None:
    assert found(environ={"XDG_CACHE_HOME": str(tmp_path)}) is None


def test_what_is_there_is_not_built_again(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path), "PATH": ""}
    folder = filled(cached(environ))

    run = subprocess.run([sys.executable, BUILD], env=environ, capture_output=True, check=True)

    assert run.stdout.decode().strip() == str(folder)


def test_without_go_it_says_what_to_do(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path), "PATH": ""}

    run = subprocess.run([sys.executable, BUILD], env=environ, capture_output=True, check=False)

    assert run.returncode == 1
    assert b"install Go 1.26 or newer" in run.stderr
    assert VARIABLE.encode() in run.stderr


def test_a_build_that_fails_leaves_nothing_to_be_found(tmp_path: Path) -> None:
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    go.chmod(0o755)
    environ = {"XDG_CACHE_HOME": str(tmp_path), "PATH": f"{go.parent}{os.pathsep}/bin"}

    run = subprocess.run([sys.executable, BUILD], env=environ, capture_output=True, check=False)

    assert run.returncode == 1
    assert run.stderr.startswith(b"Building etcd")
    assert b"Go could not build" in run.stderr
    assert found(environ=environ) is None
    assert [each.name for each in (tmp_path / "springtide").iterdir()] == [
        f"{cached(environ).name}.lock"
    ]


def test_the_version_is_the_one_that_the_module_pins() -> None:
    module = (MODULE / "go.mod").read_text(encoding="utf-8")

    assert f"k8s.io/kubernetes v{KUBERNETES}" in module
