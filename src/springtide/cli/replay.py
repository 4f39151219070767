"""`springtide replay`: its options, and the exit code that its answer means.

Everything behind the options is in `replay_answer`, which is imported when the command runs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Literal

import click

from springtide.cli.options import (
    DEVICE_POLICIES,
    NODE_POLICIES,
    Cluster,
    NearestChoice,
    filename_option,
    inputs,
    offer,
    telling_options,
    whole_cluster_options,
)
from springtide.cli.verbosity import verbose_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

FORMATS: Final = ("table", "wide", "json", "yaml", "csv", "name")
RECORDED: Final = "recorded"
PAIRS: Final = tuple(f"{node}/{device}" for node in NODE_POLICIES for device in DEVICE_POLICIES)
POLICIES: Final = (*PAIRS, RECORDED)
SPREAD: Final = "spread/binpack"

SAME: Final = 0
DIFFERS: Final = 1

HELP: Final = """Place a cluster's pods anew under two policies, and say what differs.

Every pod of the input that a scheduler places comes to the empty nodes, in the order in which the pods
were created, and goes where the policy puts it; one that no node takes is refused. A policy is
how nodes and how devices are picked, as in binpack/spread; 'recorded' is where the pods are in the
input. Reads what 'springtide plan' reads, a live cluster too with --kubeconfig, --context or -A, or with
--trace and --pods a trace of a cluster as CSV. Nothing is changed anywhere.

\b
  springtide replay FOLDER
  springtide replay FOLDER --policy fragmentation/fragmentation --against binpack/spread
  springtide replay --trace nodes.csv --pods pods.csv --against spread/binpack
  kubectl get nodes,pods -A -o json | springtide replay -o wide

Exit codes: 0 no pod differs, 1 some do, 2 wrong usage or input, 3 the cluster cannot be reached, 4 its
nodes or pods may not be read.
"""

KNOWN: Final = (
    f"Write NODES/DEVICES with {', '.join(NODE_POLICIES)} for nodes and {', '.join(DEVICE_POLICIES)} "
    f"for devices, or {RECORDED}."
)


class PolicyName(click.ParamType[str]):
    """A policy for nodes and one for devices with a slash between them, or what is recorded."""

    name = "policy"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what stands for the value in help texts."""
        return "NODES/DEVICES"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the name, or end with a usage error."""
        if value not in POLICIES:
            # One word is near to any policy that has it.
            close = offer(str(value), POLICIES if "/" in str(value) else (RECORDED,))
            self.fail(f"{value!r} is no policy.{close or f' {KNOWN}'}", param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Return the policies whose names begin so."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - seldom needed

        return [CompletionItem(name) for name in POLICIES if name.startswith(incomplete)]


Output = Literal["table", "wide", "json", "yaml", "csv", "name"]


@click.command("replay", help=HELP, short_help="Say what another policy would have done.")
@click.argument("paths", nargs=-1, type=click.Path(allow_dash=True), metavar="[PATH]...")
@filename_option
@click.option(
    "--trace",
    type=click.Path(dir_okay=False),
    help="Read the nodes of a trace from this CSV file, with its pods in --pods.",
)
@click.option(
    "--pods", type=click.Path(dir_okay=False), help="Read the pods of the trace from this CSV file."
)
@click.option(
    "--with-departures",
    is_flag=True,
    help="Let the pods of the trace go when they were deleted; without it, all of them stay.",
)
@click.option(
    "--policy",
    type=PolicyName(),
    default="binpack/spread",
    show_default=True,
    help="The policy to start from: how nodes are picked and how devices on a node, or 'recorded'.",
)
@click.option(
    "--against",
    type=PolicyName(),
    default=None,
    show_default=f"{RECORDED}, or {SPREAD} for a trace",
    help="The policy to compare it with, or 'recorded'.",
)
@click.option(
    "--devices-only",
    is_flag=True,
    help="Replay only pods that ask for devices; all others stay where they are.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=None,
    show_default="20, or with -o wide all",
    help="List at most so many pods that differ.",
)
@click.option(
    "-o",
    "--output",
    type=NearestChoice(FORMATS),
    default="table",
    show_default=True,
    help="How to print the answer; 'csv' and 'name' print only the pods that differ.",
)
@whole_cluster_options
@telling_options
@verbose_option
@click.pass_context
def replay(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    filenames: tuple[str, ...],
    trace: str | None,
    pods: str | None,
    with_departures: bool,
    policy: str,
    against: str | None,
    devices_only: bool,
    limit: int | None,
    output: Output,
    cluster: Cluster,
    warnings: bool,
    no_headers: bool,
    verbosity: int,
) -> int:
    """Answer for the input that the options name, and return the exit code."""
    named = (*paths, *filenames)
    is_live = bool(cluster.kubeconfig or cluster.context or cluster.has_all_namespaces)
    files = _trace(ctx, trace, pods, is_other=bool(named) or is_live)
    if with_departures and files is None:
        ctx.fail("--with-departures needs --trace: only a trace says when pods went.")
    # No linear algebra is done here, and its library's threads take longer to start than the answer.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imported here, because it takes longer than all of click and help does not need it.
    from springtide.cli import replay_answer  # noqa: PLC0415

    to_read, live = (named, None) if files else inputs(ctx, named, cluster)
    report = replay_answer.answer(
        replay_answer.Question(
            paths=to_read,
            cluster=live,
            trace=files,
            has_departures=with_departures,
            policy=policy,
            against=against or (SPREAD if files else RECORDED),
            is_devices_only=devices_only,
        ),
        replay_answer.View(
            output=output,
            limit=limit,
            has_headers=not no_headers,
            has_warnings=warnings,
            verbosity=verbosity,
        ),
    )
    return SAME if report.is_same else DIFFERS


def _trace(
    ctx: click.Context, nodes: str | None, pods: str | None, *, is_other: bool
) -> tuple[str, str] | None:
    """Return the two files of the trace, None if there is none, or end with a usage error."""
    if nodes is None and pods is None:
        return None
    if nodes is None or pods is None:
        given, lacking = ("--trace", "--pods") if pods is None else ("--pods", "--trace")
        ctx.fail(f"{given} needs {lacking}: nodes and pods of a trace are in a file each.")
    if is_other:
        ctx.fail("--trace and other input exclude each other: give one.")
    return nodes, pods
