"""`springtide replicas`: its options. What it does is in `adapting`, imported when it runs."""

from __future__ import annotations

from typing import Final

import click

from springtide.cli.options import NearestGroup
from springtide.cli.replica_manifest import manifest
from springtide.cli.replica_member import MEMBER_COMMANDS

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
EXECUTE_HELP: Final = """Start and stop members outside Kubernetes, as many as are wanted.

Members are processes of this machine or units of systemd, started and stopped by their number; or their number
is told to a command, a webhook or the scale of a workload. Nobody is stopped who must keep serving, or while
that is unknown.

\b
  springtide replicas execute --config executor.yaml

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


replicas.add_command(manifest)
for _each in MEMBER_COMMANDS:
    replicas.add_command(_each)


@replicas.command(
    "execute", help=EXECUTE_HELP, short_help="Start and stop members outside Kubernetes."
)
@click.option("--config", required=True, metavar="FILE", help="A ReplicasExecutorConfiguration.")
def execute(*, config: str) -> None:
    """Execute as the configuration says, until told to stop."""
    # Imported here, because help does not need it.
    from springtide.cli import executing  # noqa: PLC0415

    executing.serve(config)


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
