"""What `springtide why` does once its options are read: read, explain, print."""

from typing import assert_never

import msgspec

from springtide.apps.planner import Onlooker
from springtide.apps.planner.families import Policies
from springtide.apps.why import Request, WhyReport, run
from springtide.apps.why.asked import Names
from springtide.base.clock import Clock
from springtide.cli import asking, formats, why_table
from springtide.cli.input import read_input
from springtide.cli.options import Cluster
from springtide.cli.plan_table import Style, Times
from springtide.cli.planning import View
from springtide.cli.terminal import Terminal, standard_output
from springtide.cli.warning import warn
from springtide.cli.watching import watched
from springtide.edge.machine import MachineClock

__all__ = ["Question", "View", "answer"]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What to read, and whom to ask about; an extender that knows is asked before a cluster is read."""

    paths: tuple[str, ...]
    pods: tuple[str, ...]
    namespace: str
    selector: str
    tells_all_nodes: bool
    node_policy: str
    device_policy: str
    is_strict: bool = False
    cluster: Cluster | None = None
    server: str = ""
    skips_verification: bool = False
    asks_extender: bool = False


def answer(question: Question, view: View) -> WhyReport:
    """Print the answer and return it."""
    with watched(view.verbosity) as onlooker:
        report, times = _explained(question, MachineClock(), onlooker)
    if view.has_warnings:
        warn(report.problems)
    terminal = standard_output()
    text = _text(report, times, view, terminal)
    if text:
        terminal.write(text)
    return report


def _explained(question: Question, clock: Clock, onlooker: Onlooker) -> tuple[WhyReport, Times]:
    started_s = clock.monotonic_s()
    told = _told(question, onlooker)
    if told is not None:
        return told, Times(reading_s=clock.monotonic_s() - started_s, planning_s=0.0)
    found = read_input(question.paths, question.cluster, clock=clock, onlooker=onlooker)
    read_s = clock.monotonic_s()
    report = run(found, _request(question), clock=clock, onlooker=onlooker)
    explained_s = clock.monotonic_s()
    return report, Times(reading_s=read_s - started_s, planning_s=explained_s - read_s)


def _told(question: Question, onlooker: Onlooker) -> WhyReport | None:
    """Return what a running extender answers, None if none is to be asked or answers."""
    if question.cluster is None or not question.asks_extender:
        return None
    asked = asking.Asked(names=_names(question), tells_all_nodes=question.tells_all_nodes)
    if not question.server:
        return asking.of_cluster(question.cluster, asked, onlooker=onlooker)
    server = asking.Server(url=question.server, skips_verification=question.skips_verification)
    return asking.of_server(server, asked, timeout_s=question.cluster.timeout_s)


def _names(question: Question) -> Names:
    return Names(pods=question.pods, namespace=question.namespace, selector=question.selector)


def _request(question: Question) -> Request:
    return Request(
        names=_names(question),
        policies=Policies(
            node=question.node_policy,
            device=question.device_policy,
            is_strict=question.is_strict,
        ),
        tells_all_nodes=question.tells_all_nodes,
    )


def _text(report: WhyReport, times: Times, view: View, terminal: Terminal) -> str:
    match view.output:
        case "json":
            return formats.as_json(report)
        case "yaml":
            return formats.as_yaml(report)
        case "name":
            return "\n".join(
                f"pod/{name}" for each in report.pods if not each.fits for name in each.pods
            )
        case "table" | "wide":
            style = Style(
                is_wide=view.output == "wide",
                has_headers=view.has_headers,
                has_warnings=view.has_warnings,
                width=terminal.width,
            )
            return why_table.render(report, times, style)
        case _:
            assert_never(view.output)
