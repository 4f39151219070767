"""The guide for rolling replicas out: its commands that need no cluster, its files, and its alerts."""

import re
from pathlib import Path
from typing import Any, Final

import pytest

from springtide.cli.membering import configured
from springtide.wire import yaml
from springtide.wire.crd.executor import read_executor
from springtide.wire.origin import Origin
from tests.rollout import FILES, ROOT, Shell, blocks, guide

ALERTS: Final = ROOT / "deploy" / "alerts" / "replicas.yaml"
CALLED: Final = re.compile(r"springtide replicas ([a-z-]+)")
WORDS_MIN: Final = 6
SECTION: Final = re.compile(r"^### (Springtide\w+)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)


def documents(path: Path) -> list[Any]:
    """Return the documents of a file."""
    return [each.value for each in yaml.documents(path.read_bytes(), path.name)]


def test_the_commands_that_need_no_cluster_go_through_in_their_order(tmp_path: Path) -> None:
    """Covers R-45 in part: what is printed shrinks nothing before the last step."""
    shell = Shell(tmp_path)
    rules = []
    for is_offline, commands in blocks(guide()):
        if is_offline:
            shell.run("\n".join(commands))
            rules += [
                each["spec"]["behavior"]["scaleDown"]["selectPolicy"]
                for each in documents(shell.folder / "objects.yaml")
                if each["kind"] == "HorizontalPodAutoscaler"
            ]

    # Steps three and four; the first two print no autoscaler.
    assert rules == ["Disabled", "Max"]


def test_the_files_of_the_guide_are_read_as_they_stand() -> None:
    found = configured(str(FILES / "chat.yaml"))
    (executor,) = documents(FILES / "executor.yaml")

    assert found.settings.knobs.mode == "observe"
    assert read_executor(executor, origin=Origin(source="executor.yaml")).workload == "chat"


def test_every_command_of_the_guide_is_one_that_there_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from springtide.cli.main import run  # noqa: PLC0415 - it prepares the terminal when imported

    names = set(CALLED.findall(guide()))

    assert {"manifest", "status", "members", "order", "execute", "thaw"} <= names
    assert {name: run(["replicas", name, "--help"]) for name in names} == dict.fromkeys(names, 0)
    capsys.readouterr()


def test_every_alert_has_its_paragraph_with_commands_and_remedy() -> None:
    (file,) = documents(ALERTS)
    promised = [each["alert"] for group in file["groups"] for each in group["rules"]]
    sections = dict(SECTION.findall(guide()))

    assert list(sections) == promised
    for name, text in sections.items():
        before, commands, remedy = text.split("```")
        assert len(before.split()) >= WORDS_MIN, name
        assert "kubectl " in commands, name
        assert len(remedy.split()) >= WORDS_MIN, name


def test_an_alert_leads_to_its_paragraph() -> None:
    page = (ROOT / "docs" / "replicas-manifest.md").read_text(encoding="utf-8")

    assert "replicas-rollout.md#when-an-alert-fires" in page
