"""`springtide bench`: measurements on recorded clusters, of which there is one, and its options.

Everything behind the options is in `bench_answer`, which is imported when the command runs.
"""

import os
from typing import Final, Literal

import click

from springtide.cli.bench_words import POLICIES, TRACES, Picture, Seeds, Some
from springtide.cli.options import NearestChoice, NearestGroup
from springtide.cli.verbosity import verbose_option

FORMATS: Final = ("table", "json")
SEEDS: Final = range(42, 52)
TUNE: Final = 1.3
ALONE: Final = ("default",)
WORKERS_MAX: Final = 256
REPEAT_MAX: Final = 100

HELP: Final = """Replay a recorded GPU cluster under placement policies: how much of it they fill, how fast.

The pods of the trace come one by one, in an order drawn from a seed, until they ask for --tune times the
GPUs of the cluster. Each is placed once and stays, or it fails. Means are over all seeds. The trace is
Alibaba's of 2023; other lists of pods in its format are read with --pods. No server is talked to,
but for --dask.

\b
  springtide bench openb
  springtide bench openb --policy fgd,bestfit --seeds 42 --plot curves.svg
  springtide bench openb --trace all --check
  springtide bench openb --replay default_t13_s42 --check
  springtide bench openb --pods my_pods.csv --nodes my_nodes.csv -o json

The trace comes with the source, not with an installed package: elsewhere name --nodes and --pods.

Exit codes: 0 measured, 1 a check failed, 2 wrong usage or input, 3 whoever does the runs died or cannot
be reached, 130 interrupted.
"""

Output = Literal["table", "json"]


@click.group(
    "bench",
    cls=NearestGroup,
    short_help="Measure how well and how fast pods are placed.",
)
def bench() -> None:
    """Measure how well and how fast pods are placed, on recorded clusters."""


@bench.command("openb", help=HELP, short_help="Measure on the public GPU trace of Alibaba.")
@click.option(
    "--policy",
    "policies",
    type=Some(POLICIES),
    default="all",
    show_default=True,
    help=f"How nodes and GPUs are chosen: {', '.join(POLICIES)}, or all.",
)
@click.option(
    "--trace",
    "traces",
    type=Some(TRACES),
    show_default="default",
    help=f"Which of the lists of pods that come with the source: {', '.join(TRACES)}, or all.",
)
@click.option(
    "--pods",
    multiple=True,
    type=click.Path(),
    help="Read the pods from this file instead. May be repeated.",
)
@click.option(
    "--nodes",
    type=click.Path(),
    show_default="the 1,213 GPU nodes that come with the source",
    help="Read the nodes from this file.",
)
@click.option(
    "--tune",
    type=click.FloatRange(min=0),
    metavar="R",
    show_default="1.3",
    help="How many times the cluster's GPUs the pods ask for: clones come behind the list, or "
    "pods leave it at random. 0 takes the list as it is.",
)
@click.option(
    "--seeds",
    type=Seeds(),
    show_default="42-51",
    help="Draw the order of pods, the clones and the rank of nodes from each of these seeds.",
)
@click.option(
    "--replay",
    type=click.Path(),
    metavar="PREFIX",
    help="Take order and ranks from PREFIX_arrivals.csv and PREFIX_noderank.csv instead, as recorded "
    "from the published simulator; default_t13_s42 comes with the source.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1, REPEAT_MAX),
    metavar="K",
    default=1,
    show_default=True,
    help="Do every run so many times and tell the fastest.",
)
@click.option(
    "--check",
    "is_checked",
    is_flag=True,
    help="Check the answer: invariants at every step, published means, recorded placements.",
)
@click.option(
    "-o",
    "--output",
    type=NearestChoice(FORMATS),
    default="table",
    show_default=True,
    help="How to print the answer.",
)
@click.option("--json", "json_file", type=click.Path(), help="Write it to this file too, as JSON.")
@click.option(
    "--curve",
    type=click.Path(),
    help="Write what is used and fragment after every arrival, as CSV.",
)
@click.option(
    "--placements",
    type=click.Path(),
    help="Write where every pod went, as CSV, a column a policy. Of one trace and one seed.",
)
@click.option(
    "--plot",
    "plots",
    multiple=True,
    type=Picture(),
    help="Draw allocation and fragmentation over arrival into this file, .svg or .png. May be "
    "repeated.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, WORKERS_MAX),
    metavar="N",
    show_default="one a core",
    help="How many processes do the runs.",
)
@click.option(
    "--dask",
    metavar="ADDRESS",
    help="Have the runs done by the workers of this Dask scheduler, as in tcp://host:8786.",
)
@verbose_option
@click.pass_context
def openb(
    ctx: click.Context,
    *,
    policies: tuple[str, ...],
    traces: tuple[str, ...] | None,
    pods: tuple[str, ...],
    nodes: str | None,
    tune: float | None,
    seeds: range | None,
    replay: str | None,
    repeat: int,
    is_checked: bool,
    output: Output,
    json_file: str | None,
    curve: str | None,
    placements: str | None,
    plots: tuple[str, ...],
    workers: int | None,
    dask: str | None,
    verbosity: int,
) -> int:
    """Measure what the options name."""
    exclusive = (
        (bool(traces), "--trace", bool(pods), "--pods"),
        (seeds is not None, "--seeds", replay is not None, "--replay"),
        (tune is not None, "--tune", replay is not None, "--replay"),
        (workers is not None, "--workers", dask is not None, "--dask"),
    )
    for is_one, one, is_other, other in exclusive:
        if is_one and is_other:
            ctx.fail(f"{one} and {other} exclude each other: give one.")
    orders = SEEDS if seeds is None else seeds
    is_single = replay is not None or len(orders) == 1
    if placements and not (is_single and len(pods or traces or ALONE) == 1):
        ctx.fail("--placements are of one trace and one order: name one, as in --seeds 42.")
    # No linear algebra is done here, and its library's threads take longer to start than a run.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imported here, because it takes longer than all of click and help does not need it.
    from springtide.cli import bench_answer  # noqa: PLC0415

    return bench_answer.answer(
        bench_answer.Question(
            policies=policies,
            traces=traces or ALONE,
            pods=pods,
            nodes=nodes,
            tune=TUNE if tune is None else tune,
            seeds=orders,
            replay=replay,
            repeat=repeat,
            is_checked=is_checked,
            workers=workers,
            dask=dask,
        ),
        bench_answer.View(
            is_json=output == "json",
            json_file=json_file,
            curve=curve,
            placements=placements,
            plots=plots,
            verbosity=verbosity,
        ),
    )
