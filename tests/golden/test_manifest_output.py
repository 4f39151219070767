"""What `springtide replicas manifest` prints, byte for byte, and the rules in deploy/ that are made of the same."""

from pathlib import Path

import msgspec
import pytest

from springtide.apps.manifests.alerts import Scope
from springtide.apps.manifests.rules import rule_file
from springtide.cli import formats
from springtide.cli.main import run
from tests.golden.expected import ROOT, assert_golden
from tests.manifesting import Json, configuration, workload

GOLDEN = Path(__file__).resolve().parent / "manifest"
RULES = ROOT / "deploy" / "alerts" / "replicas.yaml"
HEADER = """\
# Alerts about all stateful workloads whose replicas are decided, as a rule file for Prometheus; made by `make golden`.
# `springtide replicas manifest` prints them for one workload, with the numbers of its configuration.
"""
COORDINATED: Json = {
    "workload": {"name": "chat", "kind": "Deployment"},
    "deployment": {"coordination": True},
}
CASES: dict[str, tuple[Json, list[str]]] = {
    "statefulset.yaml": ({}, []),
    "statefulset.json": ({}, ["-o", "json"]),
    "statefulset-patch.yaml": ({}, ["--patch"]),
    "statefulset-open.yaml": (
        {},
        ["--allow-scale-down", "--scale-down-pods=2", "--monitor-label=release=prometheus"],
    ),
    "deployment.yaml": (COORDINATED, ["--without=PrometheusRule", "--without=PodMonitor"]),
    "deployment-patch.yaml": (COORDINATED, ["--patch"]),
    "older.yaml": (
        {},
        [
            "--kubernetes-version=1.29",
            "--tolerance-fallback=cluster-flag",
            "--without=PrometheusRule",
        ],
    ),
}


@pytest.mark.parametrize(("name", "case"), CASES.items(), ids=CASES)
def test_objects_are_printed_as_recorded(
    name: str, case: tuple[Json, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fields, options = case
    config, installed = tmp_path / "chat.yaml", tmp_path / "workload.yaml"
    config.write_bytes(msgspec.json.encode(configuration(**fields)))
    kind = "Deployment" if fields else "StatefulSet"
    installed.write_bytes(msgspec.json.encode(workload(kind)))

    run(["replicas", "manifest", f"--config={config}", f"--workload={installed}", *options])

    assert_golden(GOLDEN / name, capsys.readouterr().out)


def test_the_rules_of_all_workloads_are_as_recorded() -> None:
    text = formats.as_documents((rule_file(Scope()),), "yaml")

    assert_golden(RULES, f"{HEADER}{text}\n")
