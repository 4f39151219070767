"""What the commands of `springtide profile` do once their options are read: read, answer, print."""

from collections.abc import Mapping
from typing import Final, Literal, assert_never

import click
import msgspec

from springtide.apps.planner.onlooker import Onlooker
from springtide.apps.profiles import capture as capturing
from springtide.apps.profiles import checking
from springtide.apps.profiles.report import ProfilesReport
from springtide.cli import formats, profile_table
from springtide.cli.endings import USAGE, Ended
from springtide.cli.input import read_input
from springtide.cli.options import Cluster
from springtide.cli.plan_table import Style, Times
from springtide.cli.terminal import standard_output
from springtide.cli.warning import warn
from springtide.cli.watching import watched
from springtide.edge.machine import MachineClock
from springtide.model.profile import Homogeneity, OnMismatch

RESOURCE: Final = "deviceprofile.springtide.io"


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """What to read."""

    paths: tuple[str, ...]
    cluster: Cluster | None


class View(msgspec.Struct, frozen=True, kw_only=True):
    """How to print the answer; the fields are the options."""

    output: Literal["table", "wide", "json", "yaml", "name"]
    warnings: bool = False
    no_headers: bool = False
    verbosity: int = 0


def capture(
    source: Source,
    wanted: Mapping[str, str],
    *,
    output: Literal["yaml", "json"],
    verbosity: int = 0,
) -> bool:
    """Print what was captured, and return whether there is one of all nodes."""
    clock = MachineClock()
    with watched(verbosity) as onlooker:
        found = read_input(source.paths, source.cluster, clock=clock, onlooker=onlooker)
        request = capturing.Request(
            selector=wanted["selector"],
            group=wanted["group"],
            by=wanted["by"],
            name=wanted["name"],
            homogeneity=Homogeneity(wanted["homogeneity"]),
            on_mismatch=OnMismatch(wanted["on_mismatch"]),
        )
        captured = capturing.run(found, request)
    for note in captured.notes:
        click.echo(f"Warning: {note}", err=True)
    for reason in captured.refused:
        click.echo(f"Error: {reason}", err=True)
    if captured.documents:
        standard_output().write(formats.as_documents(captured.documents, output, is_compact=True))
    return not captured.refused


def check(source: Source, view: View) -> ProfilesReport:
    """Print how profiles compare with their nodes, and return it."""
    report, times = _answered(source, view)
    if not report.profiles:
        raise Ended(
            "There is no device profile in the input. Name a file with one, or the cluster.", USAGE
        )
    _print(report, times, view, is_check=True)
    return report


def list_all(source: Source, view: View) -> ProfilesReport:
    """Print which profiles there are, and return it."""
    report, times = _answered(source, view)
    _print(report, times, view, is_check=False)
    return report


def _answered(source: Source, view: View) -> tuple[ProfilesReport, Times]:
    with watched(view.verbosity) as onlooker:
        report, times = answered(source, onlooker)
    if view.warnings:
        warn(report.problems)
    return report, times


def answered(source: Source, onlooker: Onlooker) -> tuple[ProfilesReport, Times]:
    """Return the answer, and how long it took."""
    clock = MachineClock()
    started_s = clock.monotonic_s()
    found = read_input(source.paths, source.cluster, clock=clock, onlooker=onlooker)
    read_s = clock.monotonic_s()
    report = checking.run(found)
    return report, Times(reading_s=read_s - started_s, planning_s=clock.monotonic_s() - read_s)


def _print(report: ProfilesReport, times: Times, view: View, *, is_check: bool) -> None:
    terminal = standard_output()
    match view.output:
        case "json":
            text = formats.as_json(report)
        case "yaml":
            text = formats.as_yaml(report)
        case "name":
            text = _names(report, is_check=is_check)
        case "table" | "wide":
            style = Style(
                is_wide=view.output == "wide",
                has_headers=not view.no_headers,
                has_warnings=view.warnings,
                width=terminal.width,
            )
            render = profile_table.checked if is_check else profile_table.listed
            text = render(report, times, style)
        case _:
            assert_never(view.output)
    if text:
        terminal.write(text)


def _names(report: ProfilesReport, *, is_check: bool) -> str:
    """Return the profiles as resource names, one a line; a check names those that are not as they should be."""
    return "\n".join(
        f"{RESOURCE}/{each.name}"
        for each in report.profiles
        if not is_check or each.verdict in checking.DIFFERENT
    )
