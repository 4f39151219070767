"""Commands of one member: running it beside its application, and asking one that runs.

What they do is in `membering` and `replica_calls`, imported when a command runs.
"""

from __future__ import annotations

from typing import Final

import click

from springtide.cli.options import NearestChoice
from springtide.cli.replica_options import Asked, member_options

RUN_HELP: Final = """Run one member beside an application that cannot embed the library.

It joins the others in etcd or in the cluster, asks the application over HTTP whether it is ready and holds
state, tells it what changes, and decides when it leads. It never scales anything.

\b
  springtide replicas run --config replicas.yaml --name chat-0
  springtide replicas run --config replicas.yaml          (in a pod, by POD_NAME and POD_INDEX)

SIGTERM lets the member leave and waits until it holds nothing; a second one ends it at once.

Exit codes: 0 drained, 1 it ended while it still held something, 2 wrong usage or configuration, 3 the cluster
cannot be reached, 4 it may not be asked.
"""
STATUS_HELP: Final = """Show Target, Ready, the round, what it goes by, and the members, as one member knows them.

\b
  springtide replicas status
  springtide replicas status -w
  springtide replicas status --url http://10.0.0.7:9398 -o json

Exit codes: 0 shown, 2 wrong usage, 3 the member cannot be asked, 4 it asks for a token.
"""
MEMBERS_HELP: Final = """Show the members that may serve, those where state must live, or all."""
CONFIGURATION_HELP: Final = """Show the settings that a member goes by."""
ORDER_HELP: Final = """Expect so many replicas whatever the load, or let the load decide again.

Only the member that leads takes orders; another one says who does. Bounds hold, and windows too, unless --force.

\b
  springtide replicas order 6
  springtide replicas order 6 --force
  springtide replicas order none

Exit codes: 0 ordered, 1 another member leads, 2 wrong usage, 3 the member cannot be asked, 4 it asks for a token.
"""
SCHEDULE_HELP: Final = """Let the running round come later; it is never hastened."""
SHUTDOWN_HELP: Final = """Let this member leave, as if it had no place any more."""
RELEASE_HELP: Final = """Give up what protects a number whose state is lost, or is elsewhere.

The floor may fall then, and the pod of that number go. Who did it is logged.
"""
RECOVERED_HELP: Final = """Say whether a restarted member has the state of the run before it."""
THAW_HELP: Final = (
    """Let a Deployment shrink again after its controller took a member that served."""
)
PRESTOP_HELP: Final = """Let this member leave, and wait until it holds nothing: for hooks before a stop.

Exit codes: 0 it holds nothing, 1 it still does, 2 wrong usage, 3 it cannot be asked, 4 it asks for a token.
"""


@click.command("run", help=RUN_HELP, short_help="Run one member beside its application.")
@click.option("--config", required=True, metavar="FILE", help="A ReplicasConfiguration.")
@click.option("--name", default="", envvar="POD_NAME", help="This member; else the host's name.")
@click.option("--namespace", default="", envvar="POD_NAMESPACE", help="That of the pod.")
@click.option("--pod-index", default="", envvar="POD_INDEX", help="The pod's ordinal.")
@click.option(
    "--ordinals-start",
    default=None,
    envvar="ORDINALS_START",
    type=click.IntRange(min=0),
    help="Where the workload starts to count.",
)
@click.option("--pod-ip", default="", envvar="POD_IP", help="Where others reach the application.")
@click.option("--id", "number", default=0, help="This member's id where numbers follow the order.")
def run(
    *,
    config: str,
    name: str,
    namespace: str,
    pod_index: str,
    ordinals_start: int | None,
    pod_ip: str,
    number: int,
) -> None:
    """Run until told to stop and drained."""
    from springtide.cli import membering  # noqa: PLC0415
    from springtide.replicas.opening import Here  # noqa: PLC0415

    here = Here(
        name=name,
        namespace=namespace,
        pod_index=pod_index,
        ordinals_start=ordinals_start,
        pod_ip=pod_ip,
        id=number,
    )
    membering.run(config, here)


@click.command("status", help=STATUS_HELP, short_help="Show labels, round and inputs.")
@member_options
@click.option("-w", "--watch", is_flag=True, help="Goes on, and shows what changes.")
@click.option(
    "-o",
    "--output",
    type=NearestChoice(("table", "json", "yaml")),
    default="table",
    show_default=True,
    help="How it is shown.",
)
def status(*, url: str, token_file: str, request_timeout: float, watch: bool, output: str) -> None:
    """Show what one member knows."""
    from springtide.cli import replica_calls  # noqa: PLC0415

    asked = Asked(url, token_file, request_timeout)
    replica_calls.show_status(asked, output=output, is_watched=watch)


@click.command("members", help=MEMBERS_HELP, short_help="Show who may serve.")
@member_options
@click.option("--service", default="", help="Only members of this service.")
@click.option(
    "--mode",
    type=NearestChoice(("ready", "target", "all")),
    default="all",
    show_default=True,
    help="Which members.",
)
@click.option(
    "-o",
    "--output",
    type=NearestChoice(("table", "json")),
    default="table",
    show_default=True,
    help="How they are shown.",
)
def members(
    *, url: str, token_file: str, request_timeout: float, service: str, mode: str, output: str
) -> None:
    """Show the members."""
    from springtide.cli import replica_calls  # noqa: PLC0415

    asked = Asked(url, token_file, request_timeout)
    replica_calls.show_members(asked, output=output, service=service, mode=mode)


@click.command("configuration", help=CONFIGURATION_HELP, short_help="Show the settings in use.")
@member_options
def configuration(*, url: str, token_file: str, request_timeout: float) -> None:
    """Show the settings."""
    from springtide.cli import replica_calls  # noqa: PLC0415

    replica_calls.show_configuration(Asked(url, token_file, request_timeout))


@click.command("order", help=ORDER_HELP, short_help="Expect so many replicas.")
@click.argument("number", metavar="N|none")
@member_options
@click.option("--force", is_flag=True, help="Does not wait for windows.")
def order(*, number: str, url: str, token_file: str, request_timeout: float, force: bool) -> None:
    """Order a number."""
    if number != "none" and not number.isdecimal():
        raise click.UsageError(f'"{number}" is no number of replicas; write one, or none.')
    from springtide.cli import replica_calls  # noqa: PLC0415

    wanted = None if number == "none" else int(number)
    replica_calls.order(Asked(url, token_file, request_timeout), wanted, is_forced=force)


_SECONDS: Final = click.FloatRange(min=0)


@click.command("schedule", help=SCHEDULE_HELP, short_help="Let the running round come later.")
@member_options
@click.option("--start", default=0.0, type=_SECONDS, metavar="SECONDS", help="Until it starts.")
@click.option("--end", default=0.0, type=_SECONDS, metavar="SECONDS", help="From start to end.")
@click.option(
    "--scaling", default=0.0, type=_SECONDS, metavar="SECONDS", help="From end to scaling."
)
def schedule(
    *,
    url: str,
    token_file: str,
    request_timeout: float,
    start: float,
    end: float,
    scaling: float,
) -> None:
    """Let the round come later."""
    from springtide.cli import replica_calls  # noqa: PLC0415

    asked = Asked(url, token_file, request_timeout)
    replica_calls.schedule(asked, start_s=start, end_s=end, scaling_s=scaling)


@click.command("shutdown", help=SHUTDOWN_HELP, short_help="Let this member leave.")
@member_options
@click.option(
    "--in", "in_s", default=0.0, type=_SECONDS, metavar="SECONDS", help="Until it leaves."
)
def shutdown(*, url: str, token_file: str, request_timeout: float, in_s: float) -> None:
    """Let it leave."""
    from springtide.cli import replica_calls  # noqa: PLC0415

    replica_calls.shutdown(Asked(url, token_file, request_timeout), in_s=in_s)


@click.command(
    "release-protection", help=RELEASE_HELP, short_help="Give up what protects a number."
)
@click.argument("index", type=click.IntRange(min=1))
@member_options
@click.option("--operator", default="", help="Who answers for it; else this user.")
def release_protection(
    *, index: int, url: str, token_file: str, request_timeout: float, operator: str
) -> None:
    """Give it up."""
    from springtide.cli import replica_calls  # noqa: PLC0415

    replica_calls.release(Asked(url, token_file, request_timeout), index, operator=operator)


@click.command("thaw", help=THAW_HELP, short_help="Let the workload shrink again.")
@member_options
@click.option("--operator", default="", help="Who answers for it; else this user.")
def thaw(*, url: str, token_file: str, request_timeout: float, operator: str) -> None:
    """Let it shrink."""
    from springtide.cli import replica_calls  # noqa: PLC0415

    replica_calls.thaw(Asked(url, token_file, request_timeout), operator=operator)


@click.command("recovered", help=RECOVERED_HELP, short_help="Say what a restart recovered.")
@member_options
@click.option(
    "--holds-state/--holds-nothing", required=True, default=None, help="What this run has."
)
def recovered(*, url: str, token_file: str, request_timeout: float, holds_state: bool) -> None:
    """Say it."""
    from springtide.cli import replica_calls  # noqa: PLC0415

    replica_calls.recovered(Asked(url, token_file, request_timeout), holds_state=holds_state)


@click.command("prestop", help=PRESTOP_HELP, short_help="Leave, and wait until it is drained.")
@member_options
@click.option(
    "--timeout",
    default=60.0,
    type=_SECONDS,
    metavar="SECONDS",
    show_default=True,
    help="For how long the drain is waited for.",
)
def prestop(*, url: str, token_file: str, request_timeout: float, timeout: float) -> None:
    """Leave and wait."""
    from springtide.cli import replica_calls  # noqa: PLC0415

    replica_calls.prestop(Asked(url, token_file, request_timeout), timeout_s=timeout)


MEMBER_COMMANDS: Final = (
    run,
    status,
    members,
    configuration,
    order,
    schedule,
    shutdown,
    release_protection,
    thaw,
    recovered,
    prestop,
)
