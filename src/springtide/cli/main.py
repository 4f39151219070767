"""The `springtide` command: one group of commands, and what their endings mean to a shell.

Also installed as `kubectl-springtide`, which kubectl finds as `kubectl springtide`.
"""

import sys
from collections.abc import Sequence
from typing import Final, NoReturn

import click

from springtide import __version__
from springtide.base.errors import SpringtideError
from springtide.cli.endings import INTERRUPTED, USAGE, Ended
from springtide.cli.headroom import headroom
from springtide.cli.options import NearestGroup
from springtide.cli.plan import plan
from springtide.cli.snapshot import snapshot
from springtide.cli.why import why

_PLUGIN: Final = "kubectl-springtide"


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
springtide.add_command(snapshot)


def main() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    sys.exit(run(sys.argv[1:], prog_name=program(sys.argv[0])))


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
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as fault:
        fault.show()
        return USAGE
    except Ended as fault:
        click.echo(f"Error: {fault}", err=True)
        return fault.code
    except SpringtideError as fault:
        click.echo(f"Error: {fault}", err=True)
        return USAGE
    return ended if isinstance(ended, int) else 0
