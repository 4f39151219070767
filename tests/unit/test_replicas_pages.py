"""The pages about replicas: every field of the configuration stands in a table, with its default."""

import re
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from springtide.wire.crd.replica_entries import PolicyEntry, ReplicasDocument

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
ELSEWHERE: Final = {"apiVersion", "kind", "metadata"}
PARTS: Final = {"aggregation", "functions", "selectors", "custom"}
"""Fields whose own parts are told in words."""
LINK: Final = re.compile(r"\]\((?!http)([^)#]*)(?:#([^)]*))?\)")
PENDING: Final[set[str]] = set()


def paths(kind: type, prefix: str = "") -> list[str]:
    """Return the paths of all fields that are no parts with fields of their own."""
    found: list[str] = []
    for field in msgspec.structs.fields(kind):
        name = f"{prefix}{field.encode_name}"
        is_struct = isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)
        is_run = name in {"store", "prometheus", "application", "process"}
        if is_struct and not is_run and name not in PARTS:
            found += paths(field.type, f"{name}.")
        elif name not in ELSEWHERE:
            found.append(name)
    return found


def rows(text: str) -> dict[str, str]:
    """Return what each field of the tables has unless given."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        cells = [each.strip() for each in line.split("|")[1:-1]]
        if len(cells) == 3:
            found.update((name, cells[1]) for name in re.findall(r"`([\w.]+)`", cells[0]))
    return found


@pytest.mark.parametrize("kind", [ReplicasDocument, PolicyEntry], ids=lambda kind: kind.__name__)
def test_every_field_stands_in_a_table(kind: type) -> None:
    told = rows((DOCS / "replicas.md").read_text(encoding="utf-8"))

    assert not [path for path in paths(kind) if path not in told]


def test_no_table_has_a_field_that_there_is_not() -> None:
    text = (DOCS / "replicas.md").read_text(encoding="utf-8")
    tables = text.partition("| `workload.name` |")[2].partition("What cannot be is refused")[0]

    told = set(rows(f"| `workload.name` |{tables}"))

    assert told == {*paths(ReplicasDocument), *paths(PolicyEntry)}


@pytest.mark.parametrize(
    "page", [*DOCS.glob("replicas*.md"), DOCS / "adapter.md"], ids=lambda page: page.name
)
def test_every_link_leads_somewhere(page: Path) -> None:
    for file, heading in LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / file if file else page
        if file in PENDING:
            continue
        assert target.exists(), file
        if heading:
            assert heading in headings(target), f"{file}#{heading}"


def headings(page: Path) -> set[str]:
    """Return the names by which headings are linked."""
    titles: list[Any] = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.strip().lower()).replace(" ", "-") for each in titles}
