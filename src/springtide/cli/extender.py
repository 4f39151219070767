"""`springtide extender`: its options. What it does is in `extending`, imported when it runs.

The options are HAMi's, as its chart passes them, beside a few of ours; a file may say the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from springtide.cli.verbosity import verbose_option

ResultT = TypeVar("ResultT")

HELP: Final = """Schedule devices of a live cluster: the extender and webhook, in the place of HAMi's scheduler.

kube-scheduler calls /filter and /bind, the API server calls /webhook. Nodes, device plugins and pods stay
as they are with HAMi. Takes HAMi's options as they are; --config names a file that says the same.

\b
  springtide extender --http_bind 127.0.0.1:8080 --device-config-file device-config.yaml
  springtide extender --config extender.yaml --kubeconfig ~/.kube/config
  springtide extender --simulation-only --config simulation.yaml

Exit codes: 0 told to stop, 2 wrong usage or configuration, 3 the cluster cannot be reached.
"""
UNLIMITED: Final = (
    "Taken, and changes nothing: the API server's own flow control says how much is too much, and "
    "limits.requests how many requests are under way."
)
TRUE: Final = ("1", "t", "T", "TRUE", "true", "True")
FALSE: Final = ("0", "f", "F", "FALSE", "false", "False")


class Switch(click.ParamType[bool]):
    """Yes or no, as Go's flags take it: `--x`, `--x=true`, `--x=false`."""

    name = "switch"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return what stands for the value in help texts."""
        return "[=true|false]"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> bool:
        """Return the value, or end with a usage error."""
        if str(value) not in (*TRUE, *FALSE):
            self.fail(f"{value!r} is neither true nor false.", param, ctx)
        return str(value) in TRUE


def _text(name: str, text: str, *, metavar: str = "TEXT") -> Callable[..., Any]:
    return click.option(name, default=None, metavar=metavar, help=text)


def _several(name: str, text: str, *, metavar: str = "TEXT") -> Callable[..., Any]:
    return click.option(
        name, multiple=True, metavar=metavar, help=f"{text} May be given several times."
    )


def _switch(name: str, text: str) -> Callable[..., Any]:
    return click.option(
        name, type=Switch(), default=None, is_flag=False, flag_value="true", help=text
    )


def _accepted(name: str, *, is_switch: bool = False) -> Callable[..., Any]:
    """Return an option of HAMi's that changes nothing here."""
    if is_switch:
        return click.option(
            name, type=Switch(), default=None, is_flag=False, flag_value="true", hidden=True
        )
    return click.option(name, default=None, hidden=True)


OURS: Final = (
    click.option(
        "--config",
        "config",
        default="",
        metavar="FILE",
        help="An ExtenderConfiguration; options go before what it says.",
    ),
    _text("--kubeconfig", "The cluster; without it, the one of this pod.", metavar="FILE"),
    _text("--context", "The context of the kubeconfig.", metavar="NAME"),
    _text(
        "--client-ca-file",
        "Whoever calls must show a certificate of these authorities, but for probes.",
        metavar="FILE",
    ),
)
SIMULATION: Final = (
    click.option(
        "--simulation-only",
        is_flag=True,
        default=None,
        help="Answer hypothetical questions alone: nothing is scheduled, nothing written.",
    ),
    _text(
        "--simulation-bind-address",
        "Where simulations are served; 0.0.0.0:9444 unless given.",
        metavar="ADDRESS",
    ),
    _text(
        "--simulation-cert-file", "Their certificate, read again when it changes.", metavar="FILE"
    ),
    _text("--simulation-key-file", "Its key.", metavar="FILE"),
    _text("--simulation-client-ca-file", "The authorities of their callers.", metavar="FILE"),
    _several("--simulation-identity", "Who may simulate: a common name, a SAN or a user."),
    _several("--profile-file", "DeviceProfiles, in the place of the cluster's.", metavar="FILE"),
    click.option(
        "--simulation-parent",
        type=int,
        default=None,
        hidden=True,
        help="Ours: the process that this one serves beside, and ends with.",
    ),
)
HAMI: Final = (
    _text("--http_bind", "Where to listen; 127.0.0.1:8080 unless given.", metavar="ADDRESS"),
    _text("--cert_file", "The certificate; with --key_file, TLS is spoken.", metavar="FILE"),
    _text("--key_file", "Its key. Both are read again when they change.", metavar="FILE"),
    _text("--scheduler-name", "Written to pods that ask for devices.", metavar="NAME"),
    _text("--node-scheduler-policy", "binpack or spread, for pods that do not say it."),
    _text("--gpu-scheduler-policy", "How devices are chosen, for pods that do not say it."),
    _text(
        "--metrics-bind-address",
        "Where metrics and probes are served without TLS; :9395 unless given, empty for nowhere.",
        metavar="ADDRESS",
    ),
    _text("--node-label-selector", "Look only at nodes with these labels.", metavar="K=V[,K=V]..."),
    _text("--node-lock-timeout", "When a node's lock is void; 5m unless given.", metavar="TIME"),
    _text(
        "--node-lock-retry-timeout",
        "How long a pod of a group waits for its node; 28s unless given.",
        metavar="TIME",
    ),
    _switch(
        "--force-overwrite-default-scheduler",
        "Take pods of default-scheduler that ask for devices; so unless given.",
    ),
    _switch("--leader-elect", "Decide only while the kube-scheduler of this pod leads."),
    _text("--leader-elect-resource-name", "Its lease.", metavar="NAME"),
    _text("--leader-elect-resource-namespace", "The namespace of its lease.", metavar="NAME"),
    _text("--device-config-file", "HAMi's device configuration, as it is.", metavar="FILE"),
    _text("--kube-timeout", "How long a request to the API server may take.", metavar="SECONDS"),
    _text("--kube-qps", UNLIMITED, metavar="NUMBER"),
    _text("--kube-burst", "Taken, and changes nothing, as --kube-qps.", metavar="NUMBER"),
)
ACCEPTED: Final = (
    "--cambricon-mlu-name", "--cambricon-mlu-memory",
    "--cambricon-mlu-cores", "--dcu-name", "--dcu-memory", "--dcu-cores", "--mthreads-name",
    "--mthreads-memory", "--mthreads-cores", "--metax-name", "--metax-vcount", "--metax-vcore",
    "--metax-vmemory", "--kunlun-name", "--kunlun-vcount", "--kunlun-vmemory",
    "--enflame-vgpu-name", "--enflame-vgpu-percentage", "--vmodule", "--log_backtrace_at",
    "--log_dir", "--log_file", "--log_file_max_size", "--stderrthreshold",
)  # fmt: skip
ACCEPTED_SWITCHES: Final = (
    "--profiling", "--legacy-metrics", "--debug", "--enable-ascend", "--enable-iluvatar",
    "--sgpu-topology-aware", "--logtostderr", "--alsologtostderr", "--add_dir_header",
    "--one_output", "--skip_headers", "--skip_log_headers",
)  # fmt: skip


def extender_options(command: Callable[..., ResultT]) -> Callable[..., ResultT]:
    """Give the command all of its options."""
    accepted = [_accepted(name) for name in ACCEPTED]
    switches = [_accepted(name, is_switch=True) for name in ACCEPTED_SWITCHES]
    for option in reversed((*OURS, *SIMULATION, *HAMI, *accepted, *switches)):
        command = option(command)
    return command


@click.command("extender", help=HELP, short_help="Schedule devices of a live cluster.")
@extender_options
@verbose_option
def extender(*, config: str, verbosity: int, **options: Any) -> None:
    """Serve as the options say, until told to stop."""
    # Imported here, because help does not need it.
    from springtide.cli import extending  # noqa: PLC0415

    given = {name: value for name, value in options.items() if value not in (None, ())}
    extending.serve(config, given, verbosity=verbosity)
