"""`springtide profile`: captured, checked and listed, with their options and exit codes.

Everything behind the options is in `profiling`, which is imported when a command runs.
"""

import os
from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar

import click

from springtide.cli.options import (
    Cluster,
    NearestChoice,
    NearestGroup,
    filename_option,
    groups_option,
    inputs,
    telling_options,
    whole_cluster_options,
)
from springtide.cli.verbosity import verbose_option

ResultT = TypeVar("ResultT")

FORMATS: Final = ("table", "wide", "json", "yaml", "name")
WRITTEN: Final = ("yaml", "json")
HOMOGENEITIES: Final = ("Strict", "Minimum", "Majority")
CONSEQUENCES: Final = ("Quarantine", "Report", "Adopt")
AGREES, DIFFERS = 0, 1

CAPTURE: Final = """Write device profiles from nodes that are there, to have more of their kind expected.

The nodes are those of a selector (-l) or of a node group (--group); without either, all that have
registered devices, in one profile for each value of a label (--by). What they agree on is promised of new
nodes; ids, health and use are left out. Reads what 'springtide plan' reads, a live cluster too with
--kubeconfig, --context or -A. Nothing is changed anywhere.

\b
  springtide profile capture -A > profiles.yaml
  springtide profile capture -A -l pool=a100 --name a100-8x | kubectl apply -f -
  springtide profile capture dump.json --groups groups.yaml --group a100 --homogeneity Minimum

Exit codes: 0 captured, 1 some nodes do not agree or have registered nothing (the reason is said, the other
profiles are written), 2 wrong usage or input, 3 the cluster cannot be reached, 4 its nodes may not be read.
"""
CHECK: Final = """Check device profiles, and hold them against the nodes that they describe.

An invalid document ends the command, with its file, line, field and the remedy. Every node that a profile
describes is compared with it, device by device. Reads what 'springtide plan' reads, a live cluster too with
--kubeconfig, --context or -A. Nothing is changed anywhere.

\b
  springtide profile check profiles.yaml -f dump.json
  springtide profile check profiles.yaml -A

Exit codes: 0 no node differs from its profile (nodes that have not registered devices yet do not), 1 some
do or a stored profile cannot be used, 2 wrong usage or input, 3 the cluster cannot be reached, 4 its nodes
may not be read.
"""
LIST: Final = """List device profiles: what they promise, of how many nodes, and whether that is so.

Reads what 'springtide plan' reads, a live cluster too with --kubeconfig, --context or -A.

\b
  springtide profile list -A
  springtide profile list profiles.yaml -o wide

Exit codes: 0 listed, 2 wrong usage or input, 3 the cluster cannot be reached, 4 its nodes may not be read.
"""

Output = Literal["table", "wide", "json", "yaml", "name"]


@click.group("profile", cls=NearestGroup, short_help="Capture, check and list device profiles.")
def profile() -> None:
    """Capture, check and list device profiles: what new nodes are expected to carry."""


def _input_options(command: Callable[..., ResultT]) -> Callable[..., ResultT]:
    """Give a command the options that say what to read."""
    paths = click.argument("paths", nargs=-1, type=click.Path(allow_dash=True), metavar="[PATH]...")
    return paths(filename_option(groups_option(command)))


def _output_option(name_means: str) -> Callable[..., Any]:
    return click.option(
        "-o",
        "--output",
        type=NearestChoice(FORMATS),
        default="table",
        show_default=True,
        help=f"How to print the answer; 'name' prints only the {name_means}.",
    )


@profile.command("capture", help=CAPTURE, short_help="Write device profiles from nodes.")
@_input_options
@click.option(
    "-l", "--selector", default="", help="Capture the nodes with these labels, as kubectl reads -l."
)
@click.option("--group", default="", metavar="NAME", help="Capture the nodes of this node group.")
@click.option(
    "--by",
    default="node.kubernetes.io/instance-type",
    show_default=True,
    metavar="LABEL",
    help="The label that tells kinds of nodes apart, where neither -l nor the group says it.",
)
@click.option(
    "--name",
    default="",
    show_default="the group's, or the label's value",
    metavar="NAME",
    help="What to call the profile.",
)
@click.option(
    "--homogeneity",
    type=NearestChoice(HOMOGENEITIES),
    default="Strict",
    show_default=True,
    help="What the nodes must agree on: everything, or promise the weakest device in each "
    "position, or what more than half of them have.",
)
@click.option(
    "--on-mismatch",
    type=NearestChoice(CONSEQUENCES),
    default="Quarantine",
    show_default=True,
    help="What is to become of a node that turns out to be less.",
)
@click.option(
    "-o",
    "--output",
    type=NearestChoice(WRITTEN),
    default="yaml",
    show_default=True,
    help="How to write the profiles.",
)
@whole_cluster_options
@verbose_option
@click.pass_context
def capture(
    ctx: click.Context,
    /,
    *,
    paths: tuple[str, ...],
    filenames: tuple[str, ...],
    groups: tuple[str, ...],
    cluster: Cluster,
    output: Literal["yaml", "json"],
    verbosity: int,
    **wanted: str,
) -> None:
    """Capture what the options name."""
    to_read, live = _read(ctx, (*paths, *filenames), groups, cluster)
    # Imported here, because it takes longer than all of click and help does not need it.
    from springtide.cli import profiling  # noqa: PLC0415

    source = profiling.Source(paths=to_read, cluster=live)
    is_whole = profiling.capture(source, wanted, output=output, verbosity=verbosity)
    ctx.exit(AGREES if is_whole else DIFFERS)


@profile.command("check", help=CHECK, short_help="Hold device profiles against their nodes.")
@_input_options
@_output_option("profiles from which nodes differ")
@whole_cluster_options
@telling_options
@verbose_option
@click.pass_context
def check(
    ctx: click.Context,
    /,
    *,
    paths: tuple[str, ...],
    filenames: tuple[str, ...],
    groups: tuple[str, ...],
    cluster: Cluster,
    **view: Any,
) -> None:
    """Check what the options name."""
    to_read, live = _read(ctx, (*paths, *filenames), groups, cluster)
    # Imported here, because it takes longer than all of click and help does not need it.
    from springtide.cli import profiling  # noqa: PLC0415

    source = profiling.Source(paths=to_read, cluster=live)
    report = profiling.check(source, profiling.View(**view))
    ctx.exit(AGREES if report.agrees else DIFFERS)


@profile.command("list", help=LIST, short_help="List device profiles and how they stand.")
@_input_options
@_output_option("names")
@whole_cluster_options
@telling_options
@verbose_option
@click.pass_context
def listed(
    ctx: click.Context,
    /,
    *,
    paths: tuple[str, ...],
    filenames: tuple[str, ...],
    groups: tuple[str, ...],
    cluster: Cluster,
    **view: Any,
) -> None:
    """List what the options name."""
    to_read, live = _read(ctx, (*paths, *filenames), groups, cluster)
    # Imported here, because it takes longer than all of click and help does not need it.
    from springtide.cli import profiling  # noqa: PLC0415

    source = profiling.Source(paths=to_read, cluster=live)
    profiling.list_all(source, profiling.View(**view))


def _read(
    ctx: click.Context, named: tuple[str, ...], groups: tuple[str, ...], cluster: Cluster
) -> tuple[tuple[str, ...], Cluster | None]:
    """Return the paths to read, and the cluster if it is to be read."""
    # No linear algebra is done here, and its library's threads take longer to start than the answer.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    to_read, live = inputs(ctx, named, cluster)
    return (*to_read, *groups), live
