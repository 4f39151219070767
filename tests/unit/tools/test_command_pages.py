"""Parts of pages that are made from commands."""

from pathlib import Path

import click
import pytest

from springtide.cli.main import springtide
from tools.command_pages import (
    DOCS,
    commands,
    described,
    faults,
    leaves,
    linked,
    options,
    pages,
    parts,
    renewed,
)

MARKS = "<!-- made by tools/command_pages.py: {} -->\n{}<!-- end -->"
PAGE = Path("plan.md")


@click.command("try", help="Try it.\n\n\b\n  springtide try 'a|b'\n\nExit codes: 0 tried.")
@click.argument("paths", nargs=-1)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="How to\nprint.",
)
@click.option(
    "--limit", type=int, default=0, show_default="no limit", metavar="N", help="At most a|b."
)
@click.option("--fast", is_flag=True, help="Hurry.")
def trial(**_: object) -> None: ...


def test_options_become_a_table() -> None:
    assert options(trial).splitlines() == [
        "| option | meaning |",
        "| --- | --- |",
        "| `-o`, `--output WORD` | How to print. One of `table`, `json`. Unless given: `table`. |",
        "| `--limit N` | At most a\\|b. Unless given: no limit. |",
        "| `--fast` | Hurry. |",
    ]


def test_help_becomes_paragraphs_and_examples() -> None:
    assert described(trial, "be try") == (
        "```\nspringtide be try [OPTIONS] [PATHS]...\n```\n\n"
        "Try it.\n\n"
        "```\nspringtide try 'a|b'\n```\n\n"
        "Exit codes: 0 tried."
    )


def test_only_what_stands_between_the_marks_is_written() -> None:
    page = f"# Title\n\n{MARKS.format('plan options', 'old')}\n\nMore.\n"

    made = renewed(page)

    assert made == f"# Title\n\n{MARKS.format('plan options', new('plan', 'options'))}\n\nMore.\n"
    assert renewed(made) == made


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        (MARKS.format("plan options", "old"), "The part about plan options is out of date"),
        (MARKS.format("pln text", ""), "There is no command for the part `pln text`"),
        ("", "The options of `springtide plan` has no place in any page"),
    ],
)
def test_what_is_wrong_with_pages_is_told(page: str, sentence: str) -> None:
    assert any(told.startswith(sentence) for _, told in faults({PAGE: page}))


def test_the_pages_of_this_tree_say_what_the_commands_say() -> None:
    assert list(faults({page: page.read_text("utf-8") for page in pages(DOCS)})) == []


def test_every_command_is_in_the_list() -> None:
    assert all(f"`springtide {name}`" in commands() for name in leaves())
    assert {name.partition(" ")[0] for name in leaves()} == set(springtide.commands)


def new(command: str, part: str) -> str:
    return f"\n{parts()[command, part]()}\n\n"


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("plan", "plan.md"),
        ("profile check", "profile.md"),
        ("replicas adapter", "adapter.md"),
        ("replicas manifest", "replicas-manifest.md"),
        ("version", "#springtide-version"),
    ],
)
def test_a_command_leads_to_the_page_that_is_most_its_own(name: str, page: str) -> None:
    assert linked(name).endswith(f"]({page})")
