"""`springtide headroom`: its options.

Everything behind the options is in `headroom_answer`, which is imported when the command runs.
"""

import os
from typing import Final, Literal, cast

import click

from springtide.cli.options import (
    Chain,
    Cluster,
    NearestChoice,
    filename_option,
    inputs,
    policy_options,
    telling_options,
    whole_cluster_options,
)
from springtide.cli.verbosity import verbose_option

FORMATS: Final = ("table", "wide", "json", "yaml", "csv", "name")
ABOUT: Final = ("given", "pods", "ladder")
FOR_PEOPLE: Final = ("table", "wide")

HELP: Final = """Say for each kind of pod how many more fit now, where, and what ends it.

Answers for the asks of pods that run or wait, the most frequent first, and for a standard ladder: parts
of a device's memory and whole devices of every type. What fits at once is also the largest gang that
can start. Reads what 'springtide plan' reads, a live cluster too with --kubeconfig, --context or -A.
Nothing is changed anywhere.

\b
  springtide headroom FOLDER
  springtide headroom FOLDER --ask gpu=1,gpumem=16384,cpu=4,memory=16Gi
  springtide headroom -A
  kubectl get nodes,pods -A -o json | springtide headroom --chart

Exit codes: 0 answered, 2 wrong usage or input, 3 the cluster cannot be reached, 4 its nodes or pods
may not be read.
"""

Output = Literal["table", "wide", "json", "yaml", "csv", "name"]


@click.command("headroom", help=HELP, short_help="Say how many more pods of each kind fit now.")
@click.argument("paths", nargs=-1, type=click.Path(allow_dash=True), metavar="[PATH]...")
@filename_option
@click.option(
    "--groups",
    multiple=True,
    type=click.Path(),
    help="Read node groups from this file: they are the pools. May be repeated.",
)
@click.option(
    "--ask",
    "asks",
    multiple=True,
    metavar="NAME=AMOUNT,...",
    help="Answer for pods that ask so much: resources by long or short names, and type=WORD for a device "
    "type. May be repeated.",
)
@click.option(
    "--manifest",
    "manifests",
    multiple=True,
    type=click.Path(),
    help="Answer for the pods of this file (Pod, Deployment, Job, ...), which are not counted. May be "
    "repeated.",
)
@click.option(
    "--about",
    type=Chain(ABOUT),
    show_default="given if there are any, else pods,ladder",
    help=f"Which asks to answer for: {', '.join(ABOUT)}.",
)
@click.option(
    "--max-asks",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Answer for at most so many asks of pods.",
)
@click.option(
    "--by",
    metavar="LABEL",
    default="",
    show_default="node groups, else node.kubernetes.io/instance-type, else devices",
    help="Tell nodes together that have the same value of this label; 'group' and 'devices' tell them "
    "together by node group and by device type.",
)
@click.option(
    "-o",
    "--output",
    type=NearestChoice(FORMATS),
    default="table",
    show_default=True,
    help="How to print the answer; 'name' prints only the asks of which more fit.",
)
@click.option("--chart", is_flag=True, help="Draw what each pool's devices hold, as bars of text.")
@click.option(
    "--svg", type=click.Path(dir_okay=False), help="Write the same drawing to this file, as SVG."
)
@policy_options
@whole_cluster_options
@telling_options
@verbose_option
@click.pass_context
def headroom(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    filenames: tuple[str, ...],
    groups: tuple[str, ...],
    asks: tuple[str, ...],
    manifests: tuple[str, ...],
    about: tuple[str, ...] | None,
    max_asks: int,
    by: str,
    output: Output,
    chart: bool,
    svg: str | None,
    node_policy: str,
    device_policy: str,
    strict_hami: bool,
    cluster: Cluster,
    warnings: bool,
    no_headers: bool,
    verbosity: int,
) -> None:
    """Answer for the input that the options name."""
    if chart and output not in FOR_PEOPLE:
        ctx.fail(f"--chart draws for people and does not go with -o {output}; write --svg FILE.")
    # No linear algebra is done here, and its library's threads take longer to start than the answer.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imported here, because it takes longer than all of click and help does not need it.
    from springtide.cli import headroom_answer  # noqa: PLC0415

    to_read, live = inputs(ctx, (*paths, *filenames), cluster)
    headroom_answer.answer(
        headroom_answer.Question(
            paths=(*to_read, *groups),
            cluster=live,
            asks=asks,
            manifests=manifests,
            about=cast("tuple[headroom_answer.About, ...]", about or ()),
            asks_max=max_asks,
            by=by,
            node_policy=node_policy,
            device_policy=device_policy,
            is_strict=strict_hami,
        ),
        headroom_answer.View(
            output=output,
            has_headers=not no_headers,
            has_warnings=warnings,
            has_chart=chart,
            svg=svg,
            verbosity=verbosity,
        ),
    )
