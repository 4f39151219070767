"""docs/plan.md says what the command takes and prints, all of it, and its documents can be read."""

import json
import re
from pathlib import Path

import click
import pytest

from springtide.cli.plan import EXPANDERS, plan
from springtide.wire.documents import decode
from springtide.wire.source import Source

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "plan.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "docs" / "schema" / "plan.v1alpha1.json").read_text(encoding="utf-8"))

OPTIONS = [
    name
    for parameter in plan.params
    if isinstance(parameter, click.Option)
    for name in parameter.opts
]
FIELDS = sorted({name for part in SCHEMA["$defs"].values() for name in part["properties"]})


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_documented(option: str) -> None:
    assert re.search(rf"`{option}[` ]", PAGE)


@pytest.mark.parametrize("name", EXPANDERS)
def test_every_expander_is_documented(name: str) -> None:
    assert f"| `{name}` |" in PAGE


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_of_the_answer_is_documented(field: str) -> None:
    assert re.search(rf"[`.]{field}`", PAGE)


def test_the_documents_of_the_page_can_be_read() -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)

    found = decode([Source(f"block {number}", text.encode()) for number, text in enumerate(blocks)])

    assert [group.name for group in found.groups] == ["a100-80g", "l4"]
    assert [profile.name for profile in found.profiles] == ["l4-4x"]
    assert found.problems == ()
