"""docs/ has a page for each command that says what it takes and prints, all of it."""

import json
import re
from pathlib import Path

import click
import pytest

from springtide.apps.why.report import State
from springtide.cli.bench import openb
from springtide.cli.bench_words import POLICIES
from springtide.cli.headroom import headroom
from springtide.cli.plan import EXPANDERS, plan
from springtide.cli.replay import replay
from springtide.cli.why import why
from springtide.engine.explain import ChangeKind
from springtide.wire.documents import decode
from springtide.wire.source import Source

ROOT = Path(__file__).resolve().parents[3]
COMMANDS = {
    "plan": plan,
    "why": why,
    "headroom": headroom,
    "bench": openb,
    "replay": replay,
}
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in COMMANDS}
PAGE = PAGES["plan"]

OPTIONS = [
    (page, name)
    for page, command in COMMANDS.items()
    for parameter in command.params
    if isinstance(parameter, click.Option)
    for name in parameter.opts
]


def fields(command: str) -> list[str]:
    """Return the names of all fields in the answer of a command."""
    path = ROOT / "docs" / "schema" / f"{command}.v1alpha1.json"
    parts = json.loads(path.read_text(encoding="utf-8"))["$defs"].values()
    return sorted({name for part in parts for name in part.get("properties", ())})


FIELDS = [(command, field) for command in COMMANDS for field in fields(command)]


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_every_option_is_documented(command: str, option: str) -> None:
    assert re.search(rf"`{option}[` ]", PAGES[command])


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_of_the_benchmark_is_documented(name: str) -> None:
    assert f"| `{name}` |" in PAGES["bench"]


@pytest.mark.parametrize("name", EXPANDERS)
def test_every_expander_is_documented(name: str) -> None:
    assert f"| `{name}` |" in PAGE


@pytest.mark.parametrize(("command", "field"), FIELDS)
def test_every_field_of_the_answer_is_documented(command: str, field: str) -> None:
    assert re.search(rf"[`.]{field}`", PAGES[command])


@pytest.mark.parametrize("word", [*ChangeKind, *State])
def test_every_kind_of_change_and_state_of_a_pod_is_documented(word: str) -> None:
    assert f"| `{word}` |" in PAGES["why"]


def test_the_documents_of_the_page_can_be_read() -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)

    found = decode([Source(f"block {number}", text.encode()) for number, text in enumerate(blocks)])

    assert [group.name for group in found.groups] == ["a100-80g", "l4"]
    assert [profile.name for profile in found.profiles] == ["l4-4x"]
    assert found.problems == ()
