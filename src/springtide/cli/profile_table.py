"""Device profiles for people: one line each and, if they are checked, the nodes that differ."""

from collections.abc import Iterator
from typing import Final

import click

from springtide.apps.profiles.report import ProfileReport, ProfilesReport, Verdict
from springtide.base.durations import SECOND_NS, format_duration
from springtide.cli.layout import paragraph
from springtide.cli.plan_table import Style, Times, closing, rows_table

_GOOD: Final = frozenset({Verdict.VERIFIED})
_LISTED: Final = ("NAME", "DEVICES", "NODES", "STATUS", "ON MISMATCH")
_MORE: Final = ("SELECTOR", "HOMOGENEITY", "TIMEOUT", "WHY")
_CHECKED: Final = ("PROFILE", "DEVICES", "NODES", "STATUS", "WHY")
_NODES: Final = ("NODE", "PROFILE", "STATUS", "WHY")


def listed(report: ProfilesReport, times: Times, style: Style) -> str:
    """Return the profiles, one a line."""
    headers = (*_LISTED, *_MORE) if style.is_wide else _LISTED
    sections = (
        [] if report.profiles else paragraph(report.summary, width=style.width),
        rows_table(headers, (_row(each, style) for each in report.profiles), style),
        closing(report.input.objects, report.problems, times, style, did="Compared"),
    )
    return _joined(sections)


def checked(report: ProfilesReport, times: Times, style: Style) -> str:
    """Return the profiles with what is wrong with them, and the nodes that differ."""
    summary = paragraph(report.summary, width=style.width)
    rows = (
        (each.name, each.devices, _count(each), each.verdict.value, _sentence(each.why))
        for each in report.profiles
    )
    sections = (
        [click.style(line, bold=True) for line in summary],
        rows_table(_CHECKED, rows, style),
        rows_table(_NODES, _nodes(report, style), style),
        closing(report.input.objects, report.problems, times, style, did="Compared"),
    )
    return _joined(sections)


def _joined(sections: tuple[list[str], ...]) -> str:
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def _row(each: ProfileReport, style: Style) -> tuple[str, ...]:
    status = f"{each.verdict.value}, degraded" if each.degraded else each.verdict.value
    row = (each.name, each.devices, _count(each), status, each.on_mismatch)
    if not style.is_wide:
        return row
    timeout_ns = round(each.registration_timeout_s * SECOND_NS)
    timeout = format_duration(timeout_ns) if timeout_ns else ""
    why = _sentence(each.why or each.degraded)
    return (*row, each.node_selector, each.homogeneity, timeout, why)


def _count(each: ProfileReport) -> str:
    return "" if each.verdict is Verdict.INVALID else str(len(each.nodes))


def _nodes(report: ProfilesReport, style: Style) -> Iterator[tuple[str, ...]]:
    """Yield the nodes that are not just as promised; `wide` has all of them."""
    for profile in report.profiles:
        for node in profile.nodes:
            if style.is_wide or node.verdict not in _GOOD:
                yield node.node, profile.name, node.verdict.value, _sentence(node.why)


def _sentence(why: str) -> str:
    return f"{why[:1].upper()}{why[1:]}"
