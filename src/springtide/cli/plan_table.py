"""The report for people: the answer first, then why this, why not the others, what is left.

`wide` holds back nothing; otherwise long lists end in how many more there are.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

import click
import msgspec
from msgspec.structs import replace

from springtide.apps.planner.report import (
    NodeReport,
    NotEvaluated,
    PlanReport,
    ProblemReport,
    StuckReport,
)
from springtide.cli.layout import paragraph, table
from springtide.cli.names import listed, workloads

ROWS_MAX: Final = 20
INDENT: Final = "  "
CLAIMS: Final = "volumes.persistentVolumeClaim"
"""Looked at, unless the input lacks what it takes."""


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """How long the parts of the work took."""

    reading_s: float
    planning_s: float


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """How much to print and how wide; no width means lines of any length."""

    is_wide: bool = False
    has_headers: bool = True
    has_warnings: bool = False
    width: int | None = None

    @property
    def rows_max(self) -> int | None:
        """Return how many rows a section may have."""
        return None if self.is_wide else ROWS_MAX


def render(report: PlanReport, times: Times, style: Style) -> str:
    """Return the whole text."""
    sections = (
        _summary(report, style),
        _grown(report, style),
        _new_nodes(report, style),
        _not_chosen(report, style),
        _fitting(report, style),
        _gangs(report, style),
        *_stuck(report, style),
        _apart(report, style),
        _remarks(report, style),
        _closing(report, times, style),
    )
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def problem_text(problem: ProblemReport) -> str:
    """Return a problem of the input as one line."""
    where = f"{problem.object}, {problem.field}" if problem.field else problem.object
    return ": ".join(part for part in (problem.source, where, problem.message) if part)


# What to do


def _summary(report: PlanReport, style: Style) -> list[str]:
    lines = paragraph(report.summary, width=style.width)
    return [click.style(line, bold=True) for line in lines]


def _grown(report: PlanReport, style: Style) -> list[str]:
    rows = [
        (
            group.name,
            f"{group.size_before} → {group.size_after}",
            _pods([pod for node in group.nodes for pod in node.pods], style),
            group.why,
        )
        for group in report.groups
        if group.size_after > group.size_before
    ]
    return rows_table(("GROUP", "NODES", "PODS", "WHY"), rows, style, colour="green")


def _new_nodes(report: PlanReport, style: Style) -> list[str]:
    """Say which pods run on which new node, where there is more than one to tell apart."""
    if all(len(group.nodes) <= 1 for group in report.groups):
        return []
    rows = [row for group in report.groups for row in _node_rows(group.nodes, style)]
    return rows_table(("NEW NODES", "PODS ON EACH"), rows, style)


def _node_rows(nodes: Sequence[NodeReport], style: Style) -> Iterator[tuple[str, str]]:
    if style.is_wide:
        yield from ((node.name, _pods(node.pods, style)) for node in nodes)
        return
    for each, alike in groupby(nodes, key=lambda node: workloads(node.pods)):
        run = list(alike)
        pods = _pods(run[0].pods, style) if len(run) == 1 else each
        yield listed([node.name for node in run]), pods


def _not_chosen(report: PlanReport, style: Style) -> list[str]:
    why_not = [
        (group.name, group.why) for group in report.groups if group.size_after <= group.size_before
    ]
    if not style.is_wide:
        alike: dict[str, list[str]] = {}
        for name, why in why_not:
            alike.setdefault(why, []).append(name)
        why_not = [(listed(names), why) for why, names in alike.items()]
    return rows_table(("NOT CHOSEN", "WHY NOT"), why_not, style)


def _fitting(report: PlanReport, style: Style) -> list[str]:
    pods: dict[str, list[str]] = {}
    for item in report.fitting:
        pods.setdefault(item.node, []).append(item.pod)
    rows = [(node, _pods(names, style)) for node, names in pods.items()]
    return rows_table(("NODE", "PODS THAT FIT NOW"), rows, style)


def _gangs(report: PlanReport, style: Style) -> list[str]:
    rows = [
        (gang.gang, str(gang.running), str(gang.minimum), gang.why)
        for gang in sorted(report.gangs, key=lambda gang: gang.is_met)
    ]
    return rows_table(("GANG", "WOULD RUN", "AT LEAST", "WHY"), rows, style)


# What is left


def _stuck(report: PlanReport, style: Style) -> Iterator[list[str]]:
    shown = report.stuck[: style.rows_max]
    for item in shown:
        yield [
            *_coloured(paragraph(_stuck_text(item, style), width=style.width)),
            *_stuck_verdicts(item, report, style),
        ]
    left_out = report.stuck[len(shown) :]
    if left_out:
        pods = sum(len(item.pods) for item in left_out)
        text = f"{pods} more pods in {len(left_out)} further kinds fit nowhere; -o wide lists them."
        yield paragraph(text, width=style.width)


def _coloured(lines: Sequence[str]) -> list[str]:
    return [click.style(line, fg="red") for line in lines]


def _stuck_text(item: StuckReport, style: Style) -> str:
    text = f"{_pods(item.pods, style)} {'fits' if len(item.pods) == 1 else 'fit'} nowhere."
    closest = item.closest
    if item.remedy:
        return f"{text} {item.remedy}"
    if closest is None:
        return text
    return f"{text} Closest is {closest.group}: {_with_detail(closest.reason, closest.detail)}."


def _stuck_verdicts(item: StuckReport, report: PlanReport, style: Style) -> list[str]:
    lines = []
    if report.input.nodes:
        text = f"The nodes that are there: {item.message}"
        lines += paragraph(text, width=style.width, indent=INDENT)
    if style.is_wide:
        rows = [
            (verdict.group, _with_detail(verdict.reason, verdict.detail)) for verdict in item.groups
        ]
        lines += indented(("GROUP", "WHY NOT"), rows, style)
    return lines


def indented(headers: Sequence[str], rows: Sequence[Sequence[str]], style: Style) -> list[str]:
    """Return the lines of a table, set in."""
    narrower = style.width if style.width is None else style.width - len(INDENT)
    return [INDENT + line for line in rows_table(headers, rows, replace(style, width=narrower))]


def _with_detail(reason: str, detail: str) -> str:
    if not detail:
        return reason
    return f"{reason} ({detail})" if ": " in reason else f"{reason}, {detail}"


def _apart(report: PlanReport, style: Style) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for item in report.apart:
        reasons.setdefault(item.reason, []).append(item.pod)
    rows = [(_pods(pods, style), reason) for reason, pods in reasons.items()]
    return rows_table(("LEFT OUT", "BECAUSE IT"), rows, style)


def remarks(items: Sequence[NotEvaluated], notes: Sequence[str], style: Style) -> list[str]:
    """Return a sentence for each field that was not looked at and could matter, and the notes."""
    evaluated = (_not_evaluated(item) for item in items if style.is_wide or item.is_required)
    return [*evaluated, *notes]


def _remarks(report: PlanReport, style: Style) -> list[str]:
    sentences = remarks(report.not_evaluated, report.input.notes, style)
    if report.pending > len(report.fitting) and not report.groups:
        sentences.append(
            "No node group was given: name some in a NodeGroups document (--groups) "
            "to learn which of them would help."
        )
    return [line for text in sentences for line in paragraph(text, width=style.width)]


def _not_evaluated(item: NotEvaluated) -> str:
    pods = "1 pod" if item.pods == 1 else f"{item.pods} pods"
    effect = (
        "the scheduler may refuse a node that is counted on here"
        if item.is_required
        else "it would only order the nodes that fit"
    )
    field = item.field.removesuffix(".preferred")
    wish = "" if item.is_required else "preferences in "
    rule = item.rule or "the rule that reads it"
    why = (
        f"The input lacks claims that {rule} needs"
        if item.field == CLAIMS
        else f"This version does not apply {rule}"
    )
    return f"Not looked at: {wish}{field} of {pods}. {why}; {effect}."


def _closing(report: PlanReport, times: Times, style: Style) -> list[str]:
    return closing(report.input.objects, report.problems, times, style, did="Planned")


def closing(
    objects: int, problems: Sequence[ProblemReport], times: Times, style: Style, *, did: str
) -> list[str]:
    """Return how much was read, how many problems it has, and how long it took."""
    read = f"Read {objects} {'object' if objects == 1 else 'objects'} in {times.reading_s:.2f} s"
    text = f"{read}{_problem_count(problems, style)}. {did} in {times.planning_s:.2f} s."
    return paragraph(text, width=style.width)


def _problem_count(problems: Sequence[ProblemReport], style: Style) -> str:
    if not problems:
        return ""
    what = f"1 problem: {problems[0].object}" if len(problems) == 1 else f"{len(problems)} problems"
    return f" ({what})" if style.has_warnings else f" ({what}; --warnings says more)"


# Words


def _pods(names: Sequence[str], style: Style) -> str:
    return " ".join(names) if style.is_wide else listed(names)


def rows_table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    style: Style,
    *,
    colour: str | None = None,
) -> list[str]:
    """Return the lines of a table, none at all without rows, and no more than the style wants."""
    given = list(rows)
    if not given:
        return []
    shown = given[: style.rows_max]
    lines = table(
        headers, shown, width=style.width, first_colour=colour, has_headers=style.has_headers
    )
    left_out = len(given) - len(shown)
    return [*lines, f"... and {left_out} more; -o wide lists them."] if left_out else lines
