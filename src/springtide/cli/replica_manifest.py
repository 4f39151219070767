"""`springtide replicas manifest`: its options. What it does is in `manifesting`, imported when it runs."""

from typing import Any, Final

import click

from springtide.cli.options import NearestChoice

HELP: Final = """Print the Kubernetes objects that a workload needs, from its ReplicasConfiguration.

An autoscaler that sets exactly the number that is wanted and does not shrink until it is allowed to, rights of
the members, a PodMonitor, alerts and a disruption budget; with --patch what the workload's own pods need. What
is installed is held against it with --workload and --hpa, each fault with its field and the remedy.

\b
  springtide replicas manifest --config chat.yaml --workload statefulset.yaml | kubectl apply -f -
  springtide replicas manifest --config chat.yaml --workload statefulset.yaml --patch > patch.yaml
  springtide replicas manifest --config chat.yaml --workload statefulset.yaml --hpa hpa.yaml --check

Exit codes: 0 printed, or nothing is wrong, 2 wrong usage or configuration, or something installed is wrong.
"""
KINDS: Final = (
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "PodDisruptionBudget",
    "PodMonitor",
    "PrometheusRule",
    "APIService",
    "HorizontalPodAutoscaler",
)
FALLBACKS: Final = ("cluster-flag", "executor")
WINDOW_S_MAX: Final = 3600
PERIOD_S_MAX: Final = 1800
REPLICAS_MAX: Final = 2**31 - 1


@click.command("manifest", help=HELP, short_help="Print the Kubernetes objects of a workload.")
@click.option("--config", required=True, metavar="FILE", help="A ReplicasConfiguration.")
@click.option(
    "--workload",
    default="",
    metavar="FILE",
    help="The StatefulSet or Deployment, alone or among others: says what no other option does, and is checked.",
)
@click.option(
    "--hpa", default="", metavar="FILE", help="The autoscalers that are installed, to be checked."
)
@click.option(
    "-n", "--namespace", default="", show_default="the workload's", help="The namespace of all."
)
@click.option(
    "-l",
    "--selector",
    default="",
    show_default="the workload's",
    help="Which pods are the workload's, as kubectl reads -l.",
)
@click.option(
    "--service-account",
    default="",
    metavar="NAME",
    show_default="the workload's, or its name",
    help="Whom the members run as.",
)
@click.option(
    "--container",
    default="",
    metavar="NAME",
    show_default="the workload's first",
    help="The container of the member.",
)
@click.option(
    "--ordinals-start",
    type=click.IntRange(0, REPLICAS_MAX),
    show_default="what the workload says, or 0",
    help="The ordinal from which a StatefulSet counts its pods.",
)
@click.option(
    "--floor",
    type=click.IntRange(0, REPLICAS_MAX),
    help="The highest index that holds state, as hpa_stateful_index says; replicas.max must not be below it.",
)
@click.option(
    "--kubernetes-version",
    default="1.35",
    show_default=True,
    metavar="1.N",
    help="The cluster's; before 1.33 autoscalers have no tolerance of their own.",
)
@click.option(
    "--tolerance-fallback",
    type=NearestChoice(FALLBACKS),
    help="What makes numbers exact before 1.33: a tolerance of 0 for the whole cluster, or an executor "
    "that scales in the place of an autoscaler, of which none is printed then.",
)
@click.option(
    "--allow-scale-down", is_flag=True, help="Let the autoscaler shrink the workload, too."
)
@click.option(
    "--scale-down-window",
    type=click.IntRange(0, WINDOW_S_MAX),
    default=60,
    show_default=True,
    metavar="SECONDS",
    help="How long a smaller number must have been asked for.",
)
@click.option(
    "--scale-down-pods",
    type=click.IntRange(1, REPLICAS_MAX),
    default=1,
    show_default=True,
    help="How many pods may go at a time.",
)
@click.option(
    "--scale-down-period",
    type=click.IntRange(1, PERIOD_S_MAX),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="How long that time is.",
)
@click.option(
    "--metrics-port",
    default="metrics",
    show_default=True,
    metavar="NAME",
    help="The port of the pods that has the metrics.",
)
@click.option(
    "--prestop-port",
    default="",
    metavar="NAME",
    show_default="the port of the metrics",
    help="The port that answers /hpa/prestop.",
)
@click.option(
    "--stop-time",
    type=click.IntRange(0),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="How long a process takes to end after it has handed over.",
)
@click.option(
    "--monitor-label",
    multiple=True,
    metavar="KEY=VALUE",
    help="A label for PodMonitor and PrometheusRule by which Prometheus picks them. May be repeated.",
)
@click.option(
    "--ca-bundle",
    default="",
    metavar="FILE",
    help="The authority of the adapter's certificate as PEM; with it the APIService is printed, too.",
)
@click.option(
    "--without",
    multiple=True,
    type=NearestChoice(KINDS),
    help="Leave out this kind of object. May be repeated.",
)
@click.option("--patch", is_flag=True, help="Print the patch of the workload instead.")
@click.option("--check", is_flag=True, help="Print nothing, only say what is wrong.")
@click.option(
    "-o",
    "--output",
    type=NearestChoice(("yaml", "json")),
    default="yaml",
    show_default=True,
    help="How to write the objects.",
)
@click.option(
    "--output-dir",
    default="",
    metavar="DIR",
    help="Write one file for each object into this folder, and the patch into patch below it.",
)
def manifest(**wanted: Any) -> None:
    """Print what the options ask for."""
    if wanted["patch"] and wanted["check"]:
        raise click.UsageError("--patch and --check exclude each other: give one.")
    if wanted["output_dir"] and (wanted["patch"] or wanted["check"]):
        raise click.UsageError(
            "--output-dir has the patch anyway: give neither --patch nor --check."
        )
    # Imported here, because help does not need it.
    from springtide.cli import manifesting  # noqa: PLC0415

    manifesting.run(wanted)
