"""What `springtide replay` does once its options are read: read, replay, print."""

import sys
from collections.abc import Mapping
from typing import Literal, assert_never

import msgspec

from springtide.apps.planner.onlooker import NOBODY, Onlooker
from springtide.apps.replay import ReplayReport, Request, Stay, run, trace
from springtide.base.clock import Clock
from springtide.cli import formats, replay_rows, replay_table
from springtide.cli.input import read_input
from springtide.cli.options import Cluster
from springtide.cli.progress import READING
from springtide.cli.terminal import Terminal, standard_output
from springtide.cli.warning import warn
from springtide.cli.watching import watched
from springtide.edge.files import read
from springtide.edge.machine import MachineClock
from springtide.wire.documents import Input
from springtide.wire.trace import read_nodes, read_pods


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What to read, and what to compare; `trace` are the files of nodes and pods."""

    paths: tuple[str, ...] = ()
    cluster: Cluster | None = None
    trace: tuple[str, str] | None = None
    has_departures: bool = False
    policy: str
    against: str
    is_devices_only: bool = False


class View(msgspec.Struct, frozen=True, kw_only=True):
    """How to print the answer."""

    output: Literal["table", "wide", "json", "yaml", "csv", "name"]
    limit: int | None = None
    has_headers: bool = True
    has_warnings: bool = False
    verbosity: int = 0


def answer(question: Question, view: View) -> ReplayReport:
    """Print the answer and return it."""
    with watched(view.verbosity) as onlooker:
        report, times = answered(question, onlooker)
    if view.has_warnings:
        warn(report.problems)
    terminal = standard_output()
    text = _text(report, times, view, terminal)
    if text:
        terminal.write(text)
    return report


def answered(
    question: Question, onlooker: Onlooker = NOBODY
) -> tuple[ReplayReport, replay_table.Times]:
    """Return the answer, and how long it took."""
    clock = MachineClock()
    started_s = clock.monotonic_s()
    found, stays = _read(question, clock, onlooker)
    read_s = clock.monotonic_s()
    request = Request(
        policy=question.policy,
        against=question.against,
        is_devices_only=question.is_devices_only,
        stays=stays,
    )
    report = run(found, request, clock=clock, onlooker=onlooker)
    times = replay_table.Times(
        reading_s=read_s - started_s, replaying_s=clock.monotonic_s() - read_s
    )
    return report, times


def _read(question: Question, clock: Clock, onlooker: Onlooker) -> tuple[Input, Mapping[str, Stay]]:
    if question.trace is None:
        found = read_input(question.paths, question.cluster, clock=clock, onlooker=onlooker)
        return found, {}
    onlooker.progress.begin(READING)
    nodes, pods = (read((path,), sys.stdin.buffer)[0] for path in question.trace)
    came = read_pods(pods.data, source=pods.name)
    found = trace.as_input(read_nodes(nodes.data, source=nodes.name), came)
    return found, trace.stays(came, source=pods.name) if question.has_departures else {}


def _text(report: ReplayReport, times: replay_table.Times, view: View, terminal: Terminal) -> str:
    match view.output:
        case "json":
            return formats.as_json(report)
        case "yaml":
            return formats.as_yaml(report)
        case "csv":
            return replay_rows.as_csv(report, has_headers=view.has_headers)
        case "name":
            return replay_rows.as_names(report)
        case "table" | "wide":
            style = replay_table.Style(
                is_wide=view.output == "wide",
                limit=view.limit,
                has_headers=view.has_headers,
                has_warnings=view.has_warnings,
                width=terminal.width,
            )
            return replay_table.render(report, times, style)
        case _:
            assert_never(view.output)
