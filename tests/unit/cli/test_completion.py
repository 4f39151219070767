"""What a command line may go on with: as click answers, as kubectl asks, as real shells show it."""

import os
import select
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from springtide.cli import completing
from springtide.cli.bench_words import TRACES
from springtide.cli.completion import SHELLS
from springtide.cli.main import run, springtide
from springtide.cli.plan import EXPANDERS, FORMATS
from tests.programs import installed
from tools.command_pages import leaves

PATIENCE_S = 20
HAMI = ("binpack", "default", "spread")


def values(*words: str) -> list[str]:
    """What the last word may become."""
    shell = ShellComplete(springtide, {}, "springtide", completing.VARIABLE)
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


def test_every_command_is_offered() -> None:
    assert values("") == springtide.list_commands(
        click.Context(springtide, **springtide.context_settings)
    )
    assert values("pl") == ["plan"]


@pytest.mark.parametrize("name", leaves())
def test_every_option_of_every_command_is_offered(name: str) -> None:
    command = leaves()[name]
    shown = [part for part in command.params if not getattr(part, "hidden", False)]
    long = {
        each
        for part in shown
        for each in (*part.opts, *part.secondary_opts)
        if each.startswith("--")
    }

    assert set(values(*name.split(), "--")) == {*long, "--help"}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["plan", "-o", ""], list(FORMATS)),
        (["plan", "--output=j"], ["json"]),
        (["plan", "--node-policy", "s"], ["spread"]),
        (["plan", "--expander", ""], list(EXPANDERS)),
        (["plan", "--expander", "price,least-n"], ["price,least-nodes"]),
        (["plan", "--expander", "random,pri"], ["random,price", "random,priority"]),
        (["plan", "--expander", "price,pric"], []),
        (["replay", "--policy", "binpack/s"], ["binpack/spread"]),
        (["replay", "--against", "rec"], ["recorded"]),
        (["completion", "z"], ["zsh"]),
        (["bench", ""], ["openb"]),
        (["bench", "openb", "--policy", "hami-"], [f"hami-{way}" for way in HAMI]),
        (["bench", "openb", "--policy", "fgd,best"], ["fgd,bestfit"]),
        (["bench", "openb", "--trace", ""], [*TRACES, "all"]),
        (["pln", "--out"], []),
    ],
)
def test_words_are_offered_where_there_is_a_choice(words: list[str], offered: list[str]) -> None:
    assert values(*words) == offered


@pytest.mark.parametrize(
    "words",
    [
        ["plan", ""],
        ["plan", "-f", "x"],
        ["plan", "--groups", ""],
        ["bench", "openb", "--pods", ""],
        ["bench", "openb", "--plot", "x"],
    ],
)
def test_files_are_left_to_the_shell(words: list[str]) -> None:
    shell = ShellComplete(springtide, {}, "springtide", completing.VARIABLE)

    found = shell.get_completions(words[:-1], words[-1])

    assert [item.type for item in found] == ["file"]


def test_kubectl_is_answered_in_its_protocol() -> None:
    answer = completing.candidates(springtide, ["plan", "--output", "ya"])

    assert answer == "yaml\n:4\n"


def test_kubectl_is_told_what_candidates_mean() -> None:
    lines = completing.candidates(springtide, [""]).splitlines()

    assert "version\tPrint the version." in lines
    assert lines[-1] == ":4"


def test_kubectl_is_told_to_complete_files() -> None:
    assert completing.candidates(springtide, ["plan", "--groups", ""]) == ":0\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_asks_the_program(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["completion", shell], prog_name="springtide")

    printed = capsys.readouterr()
    assert code == 0
    assert f"_SPRINGTIDE_COMPLETE={shell}_complete" in printed.out
    assert printed.err == ""


def test_an_unknown_shell_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["completion", "bsh"])

    assert code == 2
    assert "'bsh' is none of bash, zsh, fish. Did you mean bash?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["springtide", "pl"], ["plan"]),
        (["springtide", "plan", "--expander", "price,least-n"], ["price,least-nodes"]),
        # So bash takes --output=j apart.
        (["springtide", "plan", "--output", "=", "j"], ["json"]),
        (["springtide", "plan", "--output", "="], list(FORMATS)),
    ],
)
def test_bash_offers_it(words: list[str], offered: list[str], tmp_path: Path) -> None:
    bash = shell("bash")
    asking = (
        "source <(springtide completion bash)\n"
        f"COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}\n"
        "_springtide_completion springtide\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )

    done = subprocess.run(
        [bash, "--norc", "-c", asking],
        env=installed(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines() == offered


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("springtide pl", "plan\tSay which node groups make pending pods schedulable."),
        ("springtide plan --expander price,least-n", "price,least-nodes"),
        ("springtide plan -o j", "json"),
    ],
)
def test_fish_offers_it(line: str, offered: str, tmp_path: Path) -> None:
    fish = shell("fish")
    asking = f"springtide completion fish | source; complete --do-complete {shlex.quote(line)}"

    done = subprocess.run(
        [fish, "--no-config", "-c", asking],
        env={**installed(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines() == [offered]


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("springtide pla", "springtide plan "),
        ("springtide plan --expander price,least-n", "price,least-nodes "),
        ("springtide plan -o js", "-o json "),
    ],
)
def test_zsh_completes_it(line: str, completed: str, tmp_path: Path) -> None:
    zsh = shell("zsh")
    env = {**installed(tmp_path), "HOME": str(tmp_path), "TERM": "dumb", "PS1": "> "}
    master, slave = os.openpty()

    with subprocess.Popen(
        [zsh, "-f", "-i"], stdin=slave, stdout=slave, stderr=slave, env=env
    ) as it:
        os.close(slave)
        setting_up = "autoload -U compinit; compinit -u; source <(springtide completion zsh)"
        os.write(master, f"{setting_up}; print re''ady\n".encode())
        said = until("ready\r", master)
        os.write(master, f"{line}\t".encode())
        said = until(completed, master)
        it.kill()
    os.close(master)

    assert completed in said


def shell(name: str) -> str:
    """The shell, unless this machine has none."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"There is no {name} here to complete command lines.")
    return path


def until(wanted: str, master: int) -> str:
    """What a terminal shows until that is there, or patience ends."""
    said = ""
    while wanted not in said and select.select([master], [], [], PATIENCE_S)[0]:
        said += os.read(master, 4096).decode(errors="replace")
    return said
