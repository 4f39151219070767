"""`springtide plan`: its options, and the exit code that its answer means.

Everything behind the options is in `planning`, which is imported when the command runs.
"""

import os
from typing import Final, Literal

import click
from click.core import ParameterSource

from springtide.cli.options import (
    Chain,
    Cluster,
    Limit,
    NearestChoice,
    cluster_options,
    filename_option,
    groups_option,
    inputs,
    policy_options,
    telling_options,
)
from springtide.cli.verbosity import verbose_option

FORMATS: Final = ("table", "wide", "json", "yaml", "name")
EXPANDERS: Final = ("least-waste", "price", "priority", "most-pods", "least-nodes", "random")

SATISFIED: Final = 0
UNSATISFIED: Final = 1
UNANSWERED: Final = 3

HELP: Final = """Say which node groups to grow, by how many nodes, so that pending pods can run.

Reads files, folders and standard input ('-', also when something is piped in and no PATH is given):
Kubernetes objects as kubectl prints them, NodeGroups, DeviceProfiles. With --kubeconfig or --context it
reads a live cluster too; with -n or -A it does so if there is no other input. Nothing is changed anywhere.
No other server is talked to, except scheduler extenders if --call-extenders is given.

\b
  springtide plan FOLDER
  springtide plan -A --groups groups.yaml
  kubectl get nodes,pods,daemonsets -A -o json | springtide plan --groups groups.yaml

Exit codes: 0 every pending pod can run after the plan, 1 some cannot, 2 wrong usage or input,
3 the cluster cannot be reached, or a scheduler extender that has to agree gave no answer,
4 nodes or pods of the cluster may not be read.
"""

Output = Literal["table", "wide", "json", "yaml", "name"]


@click.command("plan", help=HELP, short_help="Say which node groups make pending pods schedulable.")
@click.argument("paths", nargs=-1, type=click.Path(allow_dash=True), metavar="[PATH]...")
@filename_option
@groups_option
@click.option(
    "-o",
    "--output",
    type=NearestChoice(FORMATS),
    default="table",
    show_default=True,
    help="How to print the answer; 'name' prints only the groups to grow.",
)
@click.option(
    "--expander",
    type=Chain(EXPANDERS),
    default="least-waste",
    show_default=True,
    help=f"How to choose among groups that help, one criterion after the other: {', '.join(EXPANDERS)}.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="What the random expander starts from."
)
@click.option(
    "--max-nodes-total",
    type=click.IntRange(min=0),
    default=0,
    show_default="no limit",
    metavar="N",
    help="Never plan for more nodes than this in the whole cluster.",
)
@click.option(
    "--max-nodes-per-step",
    type=click.IntRange(min=0),
    default=1000,
    show_default=True,
    metavar="N",
    help="Add at most so many nodes to a group in one step; 0 is no limit.",
)
@click.option(
    "--max-cores-total",
    type=click.IntRange(min=0),
    default=0,
    show_default="no limit",
    metavar="N",
    help="Never plan for more cores than this in the whole cluster.",
)
@click.option(
    "--max-memory-total",
    type=click.IntRange(min=0),
    default=0,
    show_default="no limit",
    metavar="GIB",
    help="Never plan for more GiB of memory than this in the whole cluster.",
)
@click.option(
    "--max-devices-total",
    "devices_total",
    type=Limit("NAME:N", "NVIDIA:16"),
    multiple=True,
    help="Never plan for more devices of this family (NVIDIA) or registered type. May be repeated.",
)
@click.option(
    "--max-resource-total",
    "resources_total",
    type=Limit("NAME:QUANTITY", "ephemeral-storage:20Ti"),
    multiple=True,
    help="Never plan for more of this resource, counting the capacity of nodes. May be repeated.",
)
@click.option(
    "--enforce-node-group-min-size",
    is_flag=True,
    help="Raise groups that have fewer nodes than their minSize, whether pods need them or not.",
)
@click.option(
    "--balance-similar-groups",
    is_flag=True,
    help="Spread new nodes over groups that are alike, so that their sizes come closer.",
)
@click.option(
    "--balancing-ignore-label",
    "balancing_ignored_labels",
    multiple=True,
    metavar="LABEL",
    help="A label in which groups may differ and still be alike. May be repeated.",
)
@policy_options
@click.option(
    "--call-extenders",
    is_flag=True,
    help="Ask the filters of the scheduler configuration's extenders; without it they are taken to agree.",
)
@click.option(
    "--extender-budget",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Spend at most so long on calls of extenders in all; 0 is no limit.",
)
@click.option(
    "--extender-max-calls",
    type=click.IntRange(min=0),
    default=10_000,
    show_default=True,
    metavar="N",
    help="Make at most so many calls of extenders in all; 0 is no limit.",
)
@click.option(
    "--extender-strict-tls",
    is_flag=True,
    help="Refuse extenders with enableHTTPS and no CA, whose certificates nobody checks.",
)
@cluster_options
@telling_options
@verbose_option
@click.pass_context
def plan(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    filenames: tuple[str, ...],
    groups: tuple[str, ...],
    output: Output,
    expander: tuple[str, ...],
    seed: int,
    max_nodes_total: int,
    max_nodes_per_step: int,
    max_cores_total: int,
    max_memory_total: int,
    devices_total: tuple[tuple[str, int], ...],
    resources_total: tuple[tuple[str, int], ...],
    enforce_node_group_min_size: bool,
    balance_similar_groups: bool,
    balancing_ignored_labels: tuple[str, ...],
    node_policy: str,
    device_policy: str,
    strict_hami: bool,
    call_extenders: bool,
    extender_budget: float,
    extender_max_calls: int,
    extender_strict_tls: bool,
    warnings: bool,
    no_headers: bool,
    verbosity: int,
    cluster: Cluster,
) -> None:
    """Plan for the input that the options name."""
    if not call_extenders:
        _refuse_idle(ctx, "extender_budget", "extender_max_calls", "extender_strict_tls")
    # No linear algebra is done here, and its library's threads take longer to start than the plan.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imported here, because it takes longer than all of click and help does not need it.
    from springtide.cli import planning  # noqa: PLC0415

    to_read, live = inputs(ctx, (*paths, *filenames), cluster)
    report = planning.answer(
        planning.Question(
            paths=(*to_read, *groups),
            cluster=live,
            namespace=cluster.namespace,
            expanders=expander,
            seed=seed,
            nodes_total_max=max_nodes_total,
            nodes_per_step_max=max_nodes_per_step,
            cores_total_max=max_cores_total,
            memory_total_max_gib=max_memory_total,
            others_total_max=(*devices_total, *resources_total),
            raises_to_minimum=enforce_node_group_min_size,
            balances=balance_similar_groups,
            ignored_labels=balancing_ignored_labels,
            node_policy=node_policy,
            device_policy=device_policy,
            is_strict=strict_hami,
            calls_extenders=call_extenders,
            extender_budget_s=extender_budget,
            extender_calls_max=extender_max_calls,
            is_strict_tls=extender_strict_tls,
        ),
        planning.View(
            output=output,
            has_headers=not no_headers,
            has_warnings=warnings,
            verbosity=verbosity,
        ),
    )
    if any(each.is_missing for each in report.extenders):
        ctx.exit(UNANSWERED)
    ctx.exit(SATISFIED if report.is_satisfied else UNSATISFIED)


def _refuse_idle(ctx: click.Context, *parameters: str) -> None:
    """End with a usage error if one of these options is given, which only count for calls."""
    for name in parameters:
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = f"--{name.replace('_', '-')}"
            ctx.fail(
                f"{option} is about calls of extenders: add --call-extenders, or leave it out."
            )
