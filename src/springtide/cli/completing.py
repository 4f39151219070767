"""Completion of command lines: scripts for shells, their questions, and those of kubectl.

The candidates are click's, from the same definitions as the help texts: commands, options, choices,
chains, files. The scripts are click's too, but for the places named below where they lose part of
a candidate.
"""

from collections.abc import Sequence
from typing import Final

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
)

PROGRAM: Final = "springtide"
VARIABLE: Final = "_SPRINGTIDE_COMPLETE"
PLUGIN: Final = "kubectl springtide"

UNKNOWN: Final = 1

# Of the directives of Cobra's protocol: what the shell is to do with the candidates.
FILES: Final = 0
NO_FILES: Final = 4
FOLDERS: Final = 16


class Bash(BashComplete):
    """Completion for bash, which takes an option and its value at `=` for three words."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one to complete, and that one."""
        words, incomplete = super().get_completion_args()
        return [word for word in words if word != "="], incomplete


class Fish(FishComplete):
    """Completion for fish, with candidates and descriptions that hold commas."""

    source_template = FishComplete.source_template.replace(
        'string split ","', 'string split --max 1 ","'
    )


_SHELLS: Final[dict[str, type[ShellComplete]]] = {"bash": Bash, "zsh": ZshComplete, "fish": Fish}


def script(shell: str, command: click.Command) -> str:
    """Return what makes the shell complete the program's command lines."""
    # Not the class's own source: for bash it starts one to look at its version.
    return ShellComplete.source(_SHELLS[shell](command, {}, PROGRAM, VARIABLE))


def answer(command: click.Command, instruction: str) -> int:
    """Print what a script asks for, and return the exit code."""
    shell, _, _ = instruction.partition("_")
    if shell not in _SHELLS:
        return UNKNOWN
    made = _SHELLS[shell](command, {}, PROGRAM, VARIABLE)
    click.echo(made.complete().encode())
    return 0


def candidates(command: click.Command, words: Sequence[str]) -> str:
    """Return the answer to kubectl about words of which the last is incomplete.

    One candidate a line, with its description behind a tab, and at the end the directive.
    """
    *before, incomplete = [*words] or [""]
    found = ShellComplete(command, {}, PLUGIN, VARIABLE).get_completions(before, incomplete)
    plain = [item for item in found if item.type == "plain"]
    return "\n".join([*map(_line, plain), f":{_directive(found)}", ""])


def _line(item: CompletionItem[str]) -> str:
    described = " ".join((item.help or "").split())
    return f"{item.value}\t{described}" if described else item.value


def _directive(found: Sequence[CompletionItem[str]]) -> int:
    kinds = {item.type for item in found}
    if "file" in kinds:
        return FILES
    return FOLDERS if "dir" in kinds else NO_FILES
