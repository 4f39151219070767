"""Writes the parts of docs/*.md that are made from the commands: what they do, and their options.

A part stands between `<!-- made by tools/command_pages.py: plan options -->` and `<!-- end -->`: `text`
is the help of a command, `options` the table of its options, and `all commands` the list of commands.
`make pages` writes them; with --check, what is stale or lacks a place is printed, a page and a sentence
a line, and nothing is written.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

import click

from springtide.cli.main import springtide

DOCS: Final = Path(__file__).resolve().parent.parent / "docs"
PROGRAM: Final = "springtide"
LIST: Final = "commands.md"
REGION: Final = re.compile(
    r"(?P<start><!-- made by tools/command_pages\.py: (?P<command>[\w-]+(?: [\w-]+)?) (?P<part>\w+) -->\n)"
    r".*?"
    r"(?P<end><!-- end -->)",
    re.DOTALL,
)
VERBATIM: Final = "\b\n"
STALE: Final = "The part about {} is out of date: run `make pages`."
UNKNOWN: Final = "There is no command for the part `{}`: remove it or correct its name."
HOMELESS: Final = (
    "The {part} of `springtide {command}` has no place in any page: add the lines "
    "`<!-- made by tools/command_pages.py: {command} {part} -->` and `<!-- end -->`, "
    "and run `make pages`."
)


def main(arguments: list[str]) -> int:
    """Writes the parts, or says what is wrong with them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, say what is stale")
    if not parser.parse_args(arguments).check:
        for page in pages(DOCS):
            page.write_text(renewed(page.read_text("utf-8")), "utf-8")
    findings = list(faults({page: page.read_text("utf-8") for page in pages(DOCS)}))
    for page, sentence in findings:
        print(f"docs/{page.name}\t{sentence}")
    return 1 if findings else 0


def pages(folder: Path) -> list[Path]:
    """The pages that may have such parts."""
    return sorted(folder.glob("*.md"))


def renewed(page: str) -> str:
    """The page with each of its parts as it has to be."""
    return REGION.sub(lambda hit: f"{hit['start']}{made(hit)}{hit['end']}", page)


def made(hit: re.Match[str]) -> str:
    """What belongs between the marks; nothing if nobody knows."""
    maker = parts().get((hit["command"], hit["part"]))
    return "" if maker is None else f"\n{maker()}\n\n"


def faults(texts: Mapping[Path, str]) -> Iterator[tuple[Path, str]]:
    """What is stale, unknown, or has no place."""
    placed = set()
    for page, text in texts.items():
        for hit in REGION.finditer(text):
            named = (hit["command"], hit["part"])
            placed.add(named)
            if named not in parts():
                yield page, UNKNOWN.format(" ".join(named))
            elif hit[0] != f"{hit['start']}{made(hit)}{hit['end']}":
                yield page, STALE.format(" ".join(named))
    for command, part in parts():
        if (command, part) not in placed:
            yield (
                Path(f"{command.partition(' ')[0]}.md"),
                HOMELESS.format(command=command, part=part),
            )


def parts() -> dict[tuple[str, str], Callable[[], str]]:
    """Every part that has to have a place, and what makes it."""
    found: dict[tuple[str, str], Callable[[], str]] = {("all", "commands"): commands}
    for name, command in leaves().items():
        found[name, "text"] = partial(described, command, name)
        if any(isinstance(each, click.Option) for each in command.params):
            found[name, "options"] = partial(options, command)
    return found


def leaves() -> dict[str, click.Command]:
    """The commands that do something, by all the words that name them."""
    found: dict[str, click.Command] = {}
    for name, command in springtide.commands.items():
        if isinstance(command, click.Group):
            found |= {f"{name} {inner}": each for inner, each in command.commands.items()}
        else:
            found[name] = command
    return found


def commands() -> str:
    """The table of commands, each with its page if it has one."""
    rows = [
        f"| {linked(name)} | {command.get_short_help_str(limit=1000)} |"
        for name, command in sorted(leaves().items())
    ]
    return "\n".join(["| command | what it does |", "| --- | --- |", *rows])


def linked(name: str) -> str:
    """The command, leading to its page or to its part of this one."""
    mark = f"command_pages.py: {name} text -->"
    page = next((page for page in pages(DOCS) if mark in page.read_text("utf-8")), None)
    place = f"#{PROGRAM}-{name}" if page is None or page == DOCS / LIST else page.name
    return f"[`{PROGRAM} {name}`]({place})"


def described(command: click.Command, name: str) -> str:
    """The usage and the help of a command of that name."""
    context = contextual(command)
    usage = " ".join([f"{PROGRAM} {name}", *command.collect_usage_pieces(context)])
    blocks = inspect.cleandoc(command.help or "").split("\n\n")
    return "\n\n".join([f"```\n{usage}\n```", *map(block, blocks)])


def block(text: str) -> str:
    """One paragraph, or lines that stand as they are."""
    if not text.startswith(VERBATIM):
        return text.strip()
    lines = inspect.cleandoc("\n" + text.removeprefix(VERBATIM))
    return f"```\n{lines}\n```"


def options(command: click.Command) -> str:
    """The table of a command's options, in the order of its help."""
    context = contextual(command)
    rows = [
        f"| {names(each, context)} | {meaning(each)} |"
        for each in command.params
        if isinstance(each, click.Option)
    ]
    return "\n".join(["| option | meaning |", "| --- | --- |", *rows])


def names(option: click.Option, context: click.Context) -> str:
    """How an option is written, with what stands for its value."""
    *short, longest = option.opts
    if option.is_flag:
        value = ""
    elif isinstance(option.type, click.Choice):
        value = " WORD"
    else:
        value = f" {option.make_metavar(context)}"
    return ", ".join([*(f"`{name}`" for name in short), f"`{longest}{value}`"])


def meaning(option: click.Option) -> str:
    """What an option does, what it takes and what holds without it."""
    told = [plain(option.help or "")]
    if isinstance(option.type, click.Choice):
        told.append(f"One of {', '.join(f'`{word}`' for word in option.type.choices)}.")
    if isinstance(option.show_default, str):
        told.append(f"Unless given: {plain(option.show_default)}.")
    elif option.show_default and not option.is_flag:
        told.append(f"Unless given: `{option.default}`.")
    return " ".join(told)


def plain(text: str) -> str:
    """The text in one line that means nothing to Markdown's tables."""
    return " ".join(text.split()).replace("|", "\\|")


def contextual(command: click.Command) -> click.Context:
    """What click needs to say how a command is used."""
    root = click.Context(springtide, info_name=PROGRAM, **springtide.context_settings)
    return click.Context(command, info_name=command.name, parent=root)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
