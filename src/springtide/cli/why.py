"""`springtide why`: its options, and the exit code that its answer means.

Everything behind the options is in `explaining`, which is imported when the command runs.
"""

import os
from typing import Final

import click
from click.core import ParameterSource

from springtide.cli.options import (
    Cluster,
    NearestChoice,
    cluster_options,
    filename_option,
    groups_option,
    inputs,
    is_piped,
    policy_options,
    telling_options,
)
from springtide.cli.plan import FORMATS, Output
from springtide.cli.verbosity import verbose_option

FITS: Final = 0
FITS_NOT: Final = 1
_VIEW: Final = ("all_namespaces", "node_policy", "device_policy", "strict_hami")

HELP: Final = """Say why pods have no node: node by node, device by device, and what would help.

A POD is NAMESPACE/NAME, pod/NAMESPACE/NAME, or pod/NAME or NAME with -n. Without any POD and -l, it is
about the pods of manifests in the input, or else about all pods that have no node. The input is read from
-f as 'plan' reads it: files, folders, standard input ('-', also when something is piped in and there is no
-f), and as there it may be a live cluster, with --kubeconfig or --context, or with a POD, -n or -A where
nothing else is given. About a POD of a live cluster its running extender is asked, if it has one that
answers; -A, policies, and -f beside it have the cluster itself read. Nothing is changed anywhere.

\b
  springtide why team-a/train-0 -f dump.json
  springtide why -f dump.json -f job.yaml
  springtide why -n team-a pod/train-0
  springtide why team-a/train-0 --server https://127.0.0.1:8443 --insecure-skip-tls-verify
  kubectl get nodes,pods -A -o json | springtide why -n team-a train-0

Exit codes: 0 every pod that was asked about fits a node or has one, 1 some do not, 2 wrong usage or
input, 3 the cluster or --server cannot be reached, 4 its nodes or pods may not be read.
"""


@click.command("why", help=HELP, short_help="Say why pods have no node, and what would help.")
@click.argument("pods", nargs=-1, metavar="[POD]...")
@filename_option
@groups_option
@click.option(
    "-l",
    "--selector",
    default="",
    help="Ask about all pods with these labels, as kubectl reads -l.",
)
@click.option(
    "--all-nodes", is_flag=True, help="Tell every node by itself, and every device on it."
)
@click.option(
    "-o",
    "--output",
    type=NearestChoice(FORMATS),
    default="table",
    show_default=True,
    help="How to print the answer; 'name' prints only the pods that do not fit.",
)
@policy_options
@click.option(
    "--server",
    default="",
    metavar="URL",
    help="Ask the extender at this address, and nobody else.",
)
@click.option(
    "--insecure-skip-tls-verify",
    is_flag=True,
    help="Take any certificate of --server.",
)
@cluster_options
@telling_options
@verbose_option
@click.pass_context
def why(
    ctx: click.Context,
    *,
    pods: tuple[str, ...],
    filenames: tuple[str, ...],
    groups: tuple[str, ...],
    selector: str,
    all_nodes: bool,
    output: Output,
    node_policy: str,
    device_policy: str,
    strict_hami: bool,
    server: str,
    insecure_skip_tls_verify: bool,
    cluster: Cluster,
    warnings: bool,
    no_headers: bool,
    verbosity: int,
) -> None:
    """Explain the pods that the options name."""
    if pods and selector:
        ctx.fail("Name pods or give -l, not both: -l asks about all pods with these labels.")
    # No linear algebra is done here, and its library's threads take longer to start than the answer.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imported here, because it takes longer than all of click and help does not need it.
    from springtide.cli import explaining  # noqa: PLC0415

    is_alone = not filenames and not groups
    if server:
        _check_alone(ctx, is_alone=is_alone, has_pods=bool(pods))
    # People who name a pod and nothing else mean the cluster that they work with.
    if server or (pods and is_alone and not is_piped()):
        to_read: tuple[str, ...] = filenames
        live: Cluster | None = cluster
    else:
        to_read, live = inputs(ctx, filenames, cluster, how="name a file or folder with -f")
    report = explaining.answer(
        explaining.Question(
            paths=(*to_read, *groups),
            cluster=live,
            server=server,
            skips_verification=insecure_skip_tls_verify,
            asks_extender=bool(pods) and is_alone and not _has_own_view(ctx),
            pods=pods,
            namespace=cluster.namespace,
            selector=selector,
            tells_all_nodes=all_nodes,
            node_policy=node_policy,
            device_policy=device_policy,
            is_strict=strict_hami,
        ),
        explaining.View(
            output=output,
            has_headers=not no_headers,
            has_warnings=warnings,
            verbosity=verbosity,
        ),
    )
    ctx.exit(FITS if report.fits else FITS_NOT)


def _check_alone(ctx: click.Context, *, is_alone: bool, has_pods: bool) -> None:
    """End with a usage error where an extender cannot be asked what the options say."""
    if not has_pods:
        ctx.fail("Name the pods: an extender answers about pods by their names.")
    if not is_alone or _has_own_view(ctx):
        ctx.fail(
            "--server goes by what the extender knows and how it is set up: leave out -f, --groups, -A "
            "and policies, or leave out --server."
        )


def _has_own_view(ctx: click.Context) -> bool:
    """Return whether options say how to look at the cluster, which an extender does in its own way."""
    return any(ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in _VIEW)
