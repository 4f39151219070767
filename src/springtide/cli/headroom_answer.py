"""What `springtide headroom` does once its options are read: read, answer, print."""

import sys
from typing import Literal, assert_never

import msgspec

from springtide.apps.headroom import About, HeadroomReport, Request, run
from springtide.apps.planner.families import Policies
from springtide.apps.planner.onlooker import NOBODY, Onlooker
from springtide.cli import formats, headroom_chart, headroom_rows, headroom_svg, headroom_table
from springtide.cli.input import read_input
from springtide.cli.options import Cluster
from springtide.cli.terminal import Terminal, standard_output
from springtide.cli.warning import warn
from springtide.cli.watching import watched
from springtide.edge.files import read, write
from springtide.edge.machine import MachineClock
from springtide.model.pod import Pod
from springtide.wire.documents import decode

__all__ = ["About", "Question", "View", "answer", "answered"]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What to read, and what to answer for."""

    paths: tuple[str, ...]
    asks: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    about: tuple[About, ...] = ()
    asks_max: int
    by: str = ""
    node_policy: str
    device_policy: str
    is_strict: bool = False
    cluster: Cluster | None = None


class View(msgspec.Struct, frozen=True, kw_only=True):
    """How to print the answer."""

    output: Literal["table", "wide", "json", "yaml", "csv", "name"]
    has_headers: bool
    has_warnings: bool
    has_chart: bool = False
    svg: str | None = None
    verbosity: int = 0


def answer(question: Question, view: View) -> HeadroomReport:
    """Print the answer and return it."""
    with watched(view.verbosity) as onlooker:
        report, times = answered(question, onlooker)
    if view.has_warnings:
        warn(report.problems)
    if view.svg is not None:
        write(view.svg, headroom_svg.drawn(report).encode())
    terminal = standard_output()
    text = _text(report, times, view, terminal)
    if text:
        terminal.write(text)
    return report


def answered(
    question: Question, onlooker: Onlooker = NOBODY
) -> tuple[HeadroomReport, headroom_table.Times]:
    """Return the answer, and how long it took."""
    clock = MachineClock()
    started_s = clock.monotonic_s()
    manifests = _manifests(question.manifests)
    found = read_input(question.paths, question.cluster, clock=clock, onlooker=onlooker)
    read_s = clock.monotonic_s()
    request = Request(
        asks=question.asks,
        about=question.about,
        asks_max=question.asks_max,
        by=question.by,
        policies=Policies(
            node=question.node_policy,
            device=question.device_policy,
            is_strict=question.is_strict,
        ),
    )
    report = run(found, request, clock=clock, manifests=manifests, onlooker=onlooker)
    times = headroom_table.Times(
        reading_s=read_s - started_s, answering_s=clock.monotonic_s() - read_s
    )
    return report, times


def _manifests(paths: tuple[str, ...]) -> tuple[Pod, ...]:
    """Return the pods that the files would make, or make already."""
    if not paths:
        return ()
    found = decode(read(paths, sys.stdin.buffer))
    return (*found.manifests, *found.pods)


def _text(
    report: HeadroomReport, times: headroom_table.Times, view: View, terminal: Terminal
) -> str:
    match view.output:
        case "json":
            return formats.as_json(report)
        case "yaml":
            return formats.as_yaml(report)
        case "csv":
            return headroom_rows.as_csv(report, has_headers=view.has_headers)
        case "name":
            return headroom_rows.as_names(report)
        case "table" | "wide":
            style = headroom_table.Style(
                is_wide=view.output == "wide",
                has_headers=view.has_headers,
                has_warnings=view.has_warnings,
                width=terminal.width,
            )
            chart = headroom_chart.drawn(report, width=terminal.width) if view.has_chart else ()
            return headroom_table.render(report, times, style, chart=chart)
        case _:
            assert_never(view.output)
