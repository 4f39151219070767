"""`springtide snapshot`: what it reads, where it writes, and what it says."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from springtide.cli.main import run
from springtide.cli.snapshot import snapshot
from tests.apiserver import PATHS, Object, api_server, kubeconfig, status

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "warm-group"
PAGE = (ROOT / "docs" / "snapshot.md").read_text(encoding="utf-8")
OPTIONS = [
    name
    for parameter in snapshot.params
    if isinstance(parameter, click.Option)
    for name in parameter.opts
]
Captured = pytest.CaptureFixture[str]

CONTAINER = {"name": "main", "env": [{"name": "TOKEN", "value": "the secret"}]}
OBJECTS: list[Object] = [
    {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"pods": "9"}}},
    {
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "t", "uid": "u"},
        "spec": {"containers": [CONTAINER]},
    },
]


def saved(path: Path) -> list[Any]:
    items = json.loads(path.read_bytes())["items"]
    assert isinstance(items, list)
    return items


def test_a_cluster_is_saved_and_plans_like_itself(tmp_path: Path, capsys: Captured) -> None:
    target = tmp_path / "cluster.json"

    with api_server(OBJECTS) as server:
        path = kubeconfig(tmp_path / "config", server.url)
        code = run(["snapshot", "--kubeconfig", path, "-o", str(target)])
        told = capsys.readouterr().err
        live = run(["plan", "--kubeconfig", path, "-o", "json"]), capsys.readouterr().out
    again = run(["plan", str(target), "-o", "json"]), capsys.readouterr().out

    assert (code, told) == (0, f"Saved 2 objects to {target}.\n")
    assert again == live
    assert b"the secret" not in target.read_bytes()
    assert saved(target)[1]["spec"]["containers"][0]["env"] == [{"name": "TOKEN"}]


def test_a_name_in_gz_is_packed_and_the_same_every_time(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json.gz", tmp_path / "b.json.gz"

    codes = [run(["snapshot", str(EXAMPLE), "-o", str(path)]) for path in (first, second)]

    assert codes == [0, 0]
    assert first.read_bytes() == second.read_bytes()
    assert json.loads(gzip.decompress(first.read_bytes()))["kind"] == "List"


def test_without_a_file_it_goes_to_standard_output() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "springtide", "snapshot", str(EXAMPLE)],
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0
    assert len(json.loads(done.stdout)["items"]) == 37
    assert done.stderr == b"Saved 37 objects.\n"


def test_what_is_piped_in_is_read() -> None:
    piped = b'{"apiVersion":"v1","kind":"Secret"}{"apiVersion":"v1","kind":"Node"}'

    done = subprocess.run(
        [sys.executable, "-m", "springtide", "snapshot"],
        input=piped,
        capture_output=True,
        check=False,
    )

    assert [each["kind"] for each in json.loads(done.stdout)["items"]] == ["Node"]
    assert done.stderr == b"Saved 1 object. Left out, because it decides nothing: 1 Secret.\n"


def test_the_key_of_the_environment_makes_the_same_names_again() -> None:
    outputs = []
    for key in ("one", "one", "another", ""):
        environ = {**os.environ, "SPRINGTIDE_ANONYMISE_KEY": key}
        command = [sys.executable, "-m", "springtide", "snapshot", str(EXAMPLE), "--anonymise"]
        done = subprocess.run(command, capture_output=True, check=True, env=environ)
        outputs.append(done.stdout)

    first, again, another, unkeyed = outputs
    assert first == again
    assert len({first, another, unkeyed}) == 3
    assert b"gpu-a100-1" not in first


def test_what_may_not_be_read_is_told_and_nodes_are_needed(
    tmp_path: Path, capsys: Captured
) -> None:
    target = tmp_path / "cluster.json"
    with api_server(OBJECTS) as server:
        path = kubeconfig(tmp_path / "config", server.url)
        server.scripted[PATHS["StorageClass"]] = [status(403)]
        code = run(["snapshot", "--kubeconfig", path, "-o", str(target)])
        told = capsys.readouterr().err
        server.scripted[PATHS["Node"]] = [status(403)]
        denied = run(["snapshot", "--kubeconfig", path])

    assert (code, denied) == (0, 4)
    assert told.startswith("Warning: Not read, because the right to list them")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--anonymise", "--keep-arguments", "x"], "exclude each other"),
        ([str(EXAMPLE), "-o", "nowhere/at/all.json"], "nowhere/at/all.json: it cannot be written"),
        (["nowhere.json"], "there is no such file"),
        (["-n", "t"], "No such option"),
    ],
)
def test_wrong_usage_ends_with_2(arguments: list[str], sentence: str, capsys: Captured) -> None:
    code = run(["snapshot", *arguments])

    printed = capsys.readouterr()
    assert code == 2
    assert sentence in printed.err
    assert printed.out == ""


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_documented(option: str) -> None:
    assert f"`{option}" in PAGE
