"""`springtide snapshot`: its options. What it does is in `snapshotting`, imported when it runs."""

from typing import Final

import click

from springtide.cli.options import (
    STDIN,
    Cluster,
    filename_option,
    inputs,
    whole_cluster_options,
)
from springtide.cli.verbosity import verbose_option

HELP: Final = """Save what decides about scheduling in a cluster to one file, to plan with it or to hand it on.

Reads a live cluster with --kubeconfig, --context or -A, or the same files as 'springtide plan'. Secrets
are never read; values of environment variables, arguments and last applied manifests are left out. With
--anonymise everything is under other names, and plans come out the same.

\b
  springtide snapshot -A -o cluster.json.gz
  springtide snapshot -A --anonymise -o report.json.gz
  springtide plan report.json.gz

Exit codes: 0 saved, 2 wrong usage or input, 3 the cluster cannot be reached, 4 nodes or pods of it may
not be read.
"""


@click.command("snapshot", help=HELP, short_help="Save a cluster to a file, anonymised if wanted.")
@click.argument("paths", nargs=-1, type=click.Path(allow_dash=True), metavar="[PATH]...")
@filename_option
@click.option(
    "-o",
    "--output",
    type=click.Path(allow_dash=True),
    default=STDIN,
    metavar="FILE",
    help="Where to save it, packed if the name ends in .gz; standard output unless given.",
)
@click.option(
    "--anonymise",
    is_flag=True,
    help="Replace names, ids, addresses, images and unknown words by made-up ones; the same words "
    "by the same ones, so that references still match.",
)
@click.option(
    "--keep-arguments",
    is_flag=True,
    help="Keep the commands and arguments of containers; never with --anonymise.",
)
@whole_cluster_options
@verbose_option
@click.pass_context
def snapshot(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    filenames: tuple[str, ...],
    output: str,
    anonymise: bool,
    keep_arguments: bool,
    cluster: Cluster,
    verbosity: int,
) -> None:
    """Save what the options name."""
    if anonymise and keep_arguments:
        raise click.UsageError("--anonymise and --keep-arguments exclude each other: give one.")
    to_read, live = inputs(ctx, (*paths, *filenames), cluster)
    # Imported here, because help does not need it.
    from springtide.cli import snapshotting  # noqa: PLC0415

    snapshotting.save(
        snapshotting.Order(
            paths=to_read,
            cluster=live,
            output=output,
            is_anonymised=anonymise,
            keeps_arguments=keep_arguments,
            verbosity=verbosity,
        )
    )
