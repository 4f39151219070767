"""`springtide replicas`: its options. What it does is in `adapting`, imported when it runs."""

from __future__ import annotations

from typing import Final

import click

from springtide.cli.options import NearestGroup

HELP: Final = """Replicas of stateful services."""
ADAPTER_HELP: Final = """Serve metrics of replicas to the cluster's autoscalers, from Prometheus.

An aggregated API server of external.metrics.k8s.io (and custom.metrics.k8s.io): a HorizontalPodAutoscaler asks
for the replicas that are wanted and for the highest one that holds state. Where that is in doubt it is
answered with an error, by which the autoscaler holds.

\b
  springtide replicas adapter --config adapter.yaml
  springtide replicas adapter --config adapter.yaml --kubeconfig ~/.kube/config

Exit codes: 0 told to stop, 2 wrong usage or configuration, 3 the cluster cannot be reached.
"""

GUARD_HELP: Final = """Keep replicas that hold state from being scaled away by hand.

A validating webhook. Whoever lowers the replicas of a guarded workload, or the maximum of its
HorizontalPodAutoscaler, below the highest replica that still holds state is refused with a sentence that
says what to wait for. Where that is not known, nothing is lowered, and raising is always let pass.

\b
  springtide replicas guard --config guard.yaml
  springtide replicas guard --config guard.yaml --kubeconfig ~/.kube/config

Exit codes: 0 told to stop, 2 wrong usage or configuration, 3 the cluster cannot be reached.
"""


@click.group("replicas", cls=NearestGroup, help=HELP, short_help="Replicas of stateful services.")
def replicas() -> None:
    """Group the commands."""


@replicas.command(
    "adapter", help=ADAPTER_HELP, short_help="Serve metrics of replicas to autoscalers."
)
@click.option("--config", required=True, metavar="FILE", help="A ReplicasAdapterConfiguration.")
@click.option(
    "--kubeconfig", default="", metavar="FILE", help="The cluster; without it, the one of this pod."
)
@click.option("--context", default="", metavar="NAME", help="The context of the kubeconfig.")
def adapter(*, config: str, kubeconfig: str, context: str) -> None:
    """Serve as the configuration says, until told to stop."""
    # Imported here, because help does not need it.
    from springtide.cli import adapting  # noqa: PLC0415

    adapting.serve(config, kubeconfig=kubeconfig, context=context)


@replicas.command("guard", help=GUARD_HELP, short_help="Keep replicas with state from being cut.")
@click.option("--config", required=True, metavar="FILE", help="A ReplicasGuardConfiguration.")
@click.option(
    "--kubeconfig", default="", metavar="FILE", help="The cluster; without it, the one of this pod."
)
@click.option("--context", default="", metavar="NAME", help="The context of the kubeconfig.")
def guard(*, config: str, kubeconfig: str, context: str) -> None:
    """Serve as the configuration says, until told to stop."""
    # Imported here, because help does not need it.
    from springtide.cli import guarding  # noqa: PLC0415

    guarding.serve(config, kubeconfig=kubeconfig, context=context)
