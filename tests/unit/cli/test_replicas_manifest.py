"""`springtide replicas manifest`: what it prints and writes, and how it ends."""

import re
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
import yaml

from springtide.apps.manifests import Fallback
from springtide.apps.manifests.alerts import Scope, alerts
from springtide.apps.manifests.compose import KINDS
from springtide.apps.manifests.finding import Rule
from springtide.cli import replica_manifest
from springtide.cli.main import run
from tests.manifesting import Json, configuration, scaler, workload

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "replicas-manifest.md").read_text(encoding="utf-8")
OPTIONS = [
    name
    for parameter in replica_manifest.manifest.params
    if isinstance(parameter, click.Option)
    for name in parameter.opts
]
AUTHORITY = "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n"
Captured = pytest.CaptureFixture[str]


def written(folder: Path, name: str, document: Json) -> str:
    """Write a document, and return its path."""
    path = folder / name
    path.write_bytes(msgspec.json.encode(document))
    return str(path)


def ends(folder: Path, *arguments: str, **fields: Any) -> int:
    """Run the command with a configuration of these fields, and return its code."""
    path = written(folder, "chat.yaml", configuration(**fields))
    return run(["replicas", "manifest", "--config", path, *arguments])


@pytest.fixture
def named() -> list[str]:
    """What must be known of a workload that is not named."""
    return ["-n", "game", "-l", "app=chat"]


def test_all_objects_are_printed_for_kubectl(
    tmp_path: Path, capsys: Captured, named: list[str]
) -> None:
    code = ends(tmp_path, *named)

    printed = capsys.readouterr()
    kinds = [each["kind"] for each in yaml.safe_load_all(printed.out)]
    assert (code, printed.err) == (0, "")
    assert kinds == [each for each in KINDS if each != "APIService"]


def test_json_is_one_list(tmp_path: Path, capsys: Captured, named: list[str]) -> None:
    authority = tmp_path / "ca.pem"
    authority.write_text(AUTHORITY)

    code = ends(tmp_path, *named, "-o", "json", "--ca-bundle", str(authority))

    found = msgspec.json.decode(capsys.readouterr().out)
    assert (code, found["kind"]) == (0, "List")
    assert [each["kind"] for each in found["items"]] == [*KINDS]


def test_a_folder_gets_a_file_for_each_and_the_patch_apart(
    tmp_path: Path, capsys: Captured, named: list[str]
) -> None:
    folder = tmp_path / "new" / "objects"

    code = ends(tmp_path, *named, "--output-dir", str(folder), "--without", "PodMonitor")

    files = sorted(str(each.relative_to(folder)) for each in folder.rglob("*.yaml"))
    printed = capsys.readouterr()
    assert (code, printed.out) == (0, "")
    assert printed.err == f"Wrote 6 objects and a patch to {folder}.\n"
    assert files == [
        "horizontalpodautoscaler.yaml",
        "patch/statefulset.yaml",
        "poddisruptionbudget.yaml",
        "prometheusrule.yaml",
        "role.yaml",
        "rolebinding.yaml",
        "serviceaccount.yaml",
    ]


def test_a_workload_says_what_no_option_does(tmp_path: Path, capsys: Captured) -> None:
    installed = written(tmp_path, "workload.yaml", workload())

    code = ends(tmp_path, "--workload", installed, "--patch")

    printed = capsys.readouterr()
    patch = yaml.safe_load(printed.out)
    assert (code, printed.err) == (0, "")
    assert (patch["kind"], patch["metadata"]["namespace"]) == ("StatefulSet", "game")


def test_a_fault_ends_it_before_anything_is_printed(tmp_path: Path, capsys: Captured) -> None:
    short = written(tmp_path, "workload.yaml", workload(pod={"terminationGracePeriodSeconds": 60}))

    code = ends(tmp_path, "--workload", short)

    printed = capsys.readouterr()
    assert (code, printed.out) == (2, "")
    assert "spec.template.spec.terminationGracePeriodSeconds: after 60 s" in printed.err
    assert printed.err.endswith("Error: Nothing can be relied on until this is mended.\n")


def test_what_the_patch_mends_is_only_warned_of_beside_it(tmp_path: Path, capsys: Captured) -> None:
    short = written(tmp_path, "workload.yaml", workload(pod={"terminationGracePeriodSeconds": 60}))

    code = ends(tmp_path, "--workload", short, "--patch")

    printed = capsys.readouterr()
    assert code == 0
    assert printed.err.startswith("Warning: ")
    assert "terminationGracePeriodSeconds: 185" in printed.out


def test_a_check_prints_nothing_and_holds_to_what_is_installed(
    tmp_path: Path, capsys: Captured
) -> None:
    good = written(tmp_path, "workload.yaml", workload())
    bad = written(tmp_path, "hpa.yaml", scaler(minReplicas=0))

    codes = [
        ends(tmp_path, "--workload", good, "--hpa", bad, each) for each in ("--check", "--patch")
    ]

    printed = capsys.readouterr()
    assert codes == [2, 2]
    assert ends(tmp_path, "--workload", good, "--check") == 0
    assert printed.out == ""
    assert "hpa.yaml, line 1: spec.minReplicas: " in printed.err


def test_what_applying_the_objects_mends_does_not_stop_them(
    tmp_path: Path, capsys: Captured, named: list[str]
) -> None:
    bad = written(tmp_path, "hpa.yaml", scaler(minReplicas=0))

    code = ends(tmp_path, *named, "--hpa", bad)

    printed = capsys.readouterr()
    assert code == 0
    assert "Warning: " in printed.err
    assert "minReplicas: 2" in printed.out


def test_what_the_configuration_rarely_means_is_told(
    tmp_path: Path, capsys: Captured, named: list[str]
) -> None:
    code = ends(tmp_path, *named, schedule={"period": "5s"}, controller={"enabled": True})

    assert code == 0
    assert "schedule.period: Clocks may differ" in capsys.readouterr().err


CLUSTER = {"kubernetes": {"selector": "app=chat"}}
ETCD = {"etcd": {"endpoints": ["http://127.0.0.1:2379"]}}


def test_members_that_meet_in_the_cluster_say_which_pods_they_are(
    tmp_path: Path, capsys: Captured
) -> None:
    code = ends(tmp_path, "-n", "game", store=CLUSTER)

    printed = capsys.readouterr()
    objects = {each["kind"]: each for each in yaml.safe_load_all(printed.out)}
    assert code == 0
    assert objects["PodMonitor"]["spec"]["selector"] == {"matchLabels": {"app": "chat"}}
    assert "process.prestopOnMetrics: a preStop hook" in printed.err


def test_members_that_meet_in_etcd_get_no_rights(
    tmp_path: Path, capsys: Captured, named: list[str]
) -> None:
    code = ends(tmp_path, *named, store=ETCD, process={"prestopOnMetrics": True})

    printed = capsys.readouterr()
    kinds = [each["kind"] for each in yaml.safe_load_all(printed.out)]
    assert (code, printed.err) == (0, "")
    assert "Role" not in kinds


WRONG: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "no namespace": ([], {}, "give --namespace"),
    "no selector": (["-n", "game"], {}, "give --selector"),
    "no coordination": (
        ["-n", "game", "-l", "app=chat"],
        {"workload": {"name": "chat", "kind": "Deployment"}},
        "deployment.coordination: a Deployment deletes pods in no order",
    ),
    "no limit": (["-n", "game", "-l", "app=chat"], {"replicas": {"min": 1}}, "replicas.max: "),
    "a low limit": (["-n", "game", "-l", "app=chat", "--floor", "41"], {}, "replicas.max: 40 is"),
    "no selector at all": (["-n", "game", "-l", "=="], {}, "--selector: "),
    "a selector of numbers": (["-n", "game", "-l", "a>1"], {}, "--selector: "),
    "no version": (["--kubernetes-version", "new"], {}, "--kubernetes-version: 'new' is no"),
    "an old version": (
        ["-n", "game", "-l", "app=chat", "--kubernetes-version", "v1.29.3-eks"],
        {},
        "give --tolerance-fallback",
    ),
    "no label": (["--monitor-label", "prometheus"], {}, "there is no ="),
    "a bad label": (["--monitor-label", "-=x"], {}, "--monitor-label: '-=x' is no label"),
    "no certificate": (["--ca-bundle", __file__.replace(".py", ".missing")], {}, "no such file"),
    "both": (["--patch", "--check"], {}, "exclude each other"),
    "a folder and a check": (["--output-dir", "x", "--check"], {}, "neither --patch nor --check"),
}


@pytest.mark.parametrize(("arguments", "fields", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_with_the_remedy(
    arguments: list[str],
    fields: dict[str, Any],
    words: str,
    tmp_path: Path,
    capsys: Captured,
) -> None:
    code = ends(tmp_path, *arguments, **fields)

    printed = capsys.readouterr()
    assert (code, printed.out) == (2, "")
    assert words.lower() in printed.err.lower()


def test_a_file_without_a_certificate_is_no_authority(tmp_path: Path, capsys: Captured) -> None:
    path = written(tmp_path, "ca.pem", {})

    assert ends(tmp_path, "--ca-bundle", path) == 2
    assert "ca.pem holds no certificate" in capsys.readouterr().err


def test_two_configurations_are_one_too_many(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "two.yaml"
    path.write_text("kind: A\n---\nkind: B\n")

    assert run(["replicas", "manifest", "--config", str(path)]) == 2
    assert "holds 2 documents; write exactly one" in capsys.readouterr().err


def test_the_words_of_options_are_those_that_are_known() -> None:
    assert replica_manifest.KINDS == KINDS
    assert set(replica_manifest.FALLBACKS) == {*Fallback}


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_documented(option: str) -> None:
    assert re.search(rf"`{option}[` ]", PAGE)


@pytest.mark.parametrize("word", [*Rule, *(each.name for each in alerts(Scope())), *KINDS])
def test_every_object_rule_and_alert_is_documented(word: str) -> None:
    assert f"| `{word}` |" in PAGE
