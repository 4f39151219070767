"""The `springtide` command: one group of commands, and what their endings mean to a shell.

Also installed as `kubectl-springtide`, which kubectl finds as `kubectl springtide`.
"""

import errno
import os
import sys
from collections.abc import Sequence
from typing import Final, NoReturn, TextIO

import click

from springtide import __version__
from springtide.base.errors import SpringtideError
from springtide.cli.bench import bench
from springtide.cli.completion import completion
from springtide.cli.endings import INTERRUPTED, UNREAD, USAGE, Ended
from springtide.cli.extender import extender
from springtide.cli.headroom import headroom
from springtide.cli.options import NearestGroup
from springtide.cli.plan import plan
from springtide.cli.profile import profile
from springtide.cli.replay import replay
from springtide.cli.replicas import replicas
from springtide.cli.snapshot import snapshot
from springtide.cli.why import why

_PLUGIN: Final = "kubectl-springtide"
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_COMPLETE: Final = "_SPRINGTIDE_COMPLETE"


@click.group(
    cls=NearestGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 yes, 1 no, 2 wrong usage or input, 3 cluster or server unreachable, "
    "4 denied, 130 interrupted.",
)
@click.version_option(__version__, message="springtide %(version)s")
def springtide() -> None:
    """Elastic scheduling for accelerator clusters: what makes pending pods schedulable, and why."""


@springtide.command("version")
def version() -> None:
    """Print the version."""
    click.echo(f"springtide {__version__}")


springtide.add_command(plan)
springtide.add_command(headroom)
springtide.add_command(why)
springtide.add_command(replay)
springtide.add_command(profile)
springtide.add_command(snapshot)
springtide.add_command(extender)
springtide.add_command(replicas)
springtide.add_command(bench)
springtide.add_command(completion)


def main() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    sys.exit(_ended(sys.argv[0], sys.argv[1:]))


def complete() -> NoReturn:
    """Answer kubectl, which asks how the words of a command line may go on, and exit."""
    from springtide.cli import completing  # noqa: PLC0415 - only completion needs it

    click.echo(completing.candidates(springtide, sys.argv[1:]), nl=False)
    sys.exit(0)


def _ended(path: str, arguments: Sequence[str]) -> int:
    instruction = os.environ.get(_COMPLETE)
    if instruction is not None:
        from springtide.cli import completing  # noqa: PLC0415 - only completion needs it

        return completing.answer(springtide, instruction)
    return run(arguments, prog_name=program(path))


def program(path: str) -> str | None:
    """Return the name people typed; None leaves it to click, which knows `python -m`."""
    name = path.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    if name == _PLUGIN:
        return "kubectl springtide"
    return None if name == "__main__.py" else name


def run(arguments: Sequence[str], *, prog_name: str | None = None) -> int:
    """Run one command line and return its exit code; faults become sentences on standard error."""
    try:
        ended = springtide.main(list(arguments), prog_name, standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as fault:
        fault.show()
        return USAGE
    except SpringtideError as fault:
        click.echo(f"Error: {fault}", err=True)
        return fault.code if isinstance(fault, Ended) else USAGE
    except (BrokenPipeError, SystemExit):
        # The latter is how click ends where whoever read the answer is gone.
        return _unread()
    except OSError as fault:
        if fault.errno not in _FULL:
            raise
        return _unwritten(fault)
    return ended if isinstance(ended, int) else 0


def _unread() -> int:
    _forget(sys.stdout)
    _forget(sys.stderr)
    return UNREAD


def _unwritten(fault: OSError) -> int:
    _forget(sys.stdout)
    click.echo(f"Error: standard output cannot be written: {fault.strerror}. Make room.", err=True)
    return USAGE


def _forget(stream: TextIO) -> None:
    """Keep what is still buffered from failing at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
