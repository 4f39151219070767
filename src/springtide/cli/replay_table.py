"""A replay for people: the answer first, then the policies side by side, and the pods that differ.

`wide` holds back nothing; otherwise long lists end in how many more there are.
"""

from collections.abc import Callable, Sequence
from typing import Final

import click
import msgspec

from springtide.apps.headroom.report import LimitReport
from springtide.apps.replay.report import (
    DecisionReport,
    DifferenceReport,
    FamilyReport,
    ReplayReport,
    RunReport,
)
from springtide.cli.headroom_table import gib
from springtide.cli.layout import paragraph, table
from springtide.cli.plan_table import Style as PlanStyle
from springtide.cli.plan_table import Times as PlanTimes
from springtide.cli.plan_table import closing, remarks
from springtide.cli.replay_rows import devices

LIMIT: Final = 20
REASONS_MAX: Final = 5
NODES_MAX: Final = 5
REFUSALS_MAX: Final = 1
NARROW: Final = 100
NAME_MAX: Final = 16
"""On narrow terminals longer names of policies are broken at their slash."""

Row = tuple[str, ...]


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """How long the parts of the work took."""

    reading_s: float
    replaying_s: float


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """How much to print and how wide; no width means lines of any length."""

    is_wide: bool = False
    limit: int | None = None
    has_headers: bool = True
    has_warnings: bool = False
    width: int | None = None

    def most(self, count: int) -> int | None:
        """Return how many of a list to print, None for all."""
        return None if self.is_wide else count

    @property
    def is_narrow(self) -> bool:
        """Return whether there is no place for what matters least."""
        return self.width is not None and self.width < NARROW

    @property
    def rows_max(self) -> int | None:
        """Return how many pods to list, None for all."""
        return self.most(LIMIT) if self.limit is None else self.limit


def render(report: ReplayReport, times: Times, style: Style) -> str:
    """Return the whole text."""
    sections: tuple[Sequence[str], ...] = (
        [click.style(line, bold=True) for line in paragraph(report.summary, width=style.width)],
        _runs(report, style),
        _emptied(report, style),
        _differences(report, style),
        _apart(report, style),
        _remarks(report, style),
        _closing(report, times, style),
    )
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


# Policies


def _runs(report: ReplayReport, style: Style) -> list[str]:
    if not report.pods:
        return []
    runs = report.runs
    headers = ["REPLAYED UNDER", *_headers(runs, style)]
    rows: list[Row] = [
        _row("pods placed", runs, lambda run: str(run.placed)),
        _row("pods refused", runs, lambda run: str(run.refused)),
        *_reasons(runs, style),
        _row("nodes in use", runs, lambda run: str(run.nodes_in_use)),
    ]
    for index, family in enumerate(runs[0].families):
        name = f"{family.family} " if len(runs[0].families) > 1 else ""
        rows.extend(_family_rows(name, [run.families[index] for run in runs]))
    return table(
        headers, rows, width=style.width, first_colour="green", has_headers=style.has_headers
    )


def _headers(runs: Sequence[RunReport], style: Style) -> list[str]:
    names = [run.policy.upper() for run in runs]
    if not style.is_narrow:
        return names
    return [name if len(name) <= NAME_MAX else name.replace("/", "/ ") for name in names]


def _row(title: str, runs: Sequence[RunReport], cell: Callable[[RunReport], str]) -> Row:
    return (title, *map(cell, runs))


def _reasons(runs: Sequence[RunReport], style: Style) -> list[Row]:
    """Return a row for each reason for which pods are refused, the most frequent first."""
    counts = [{each.reason: each.pods for each in run.reasons} for run in runs]
    reasons = sorted(
        {reason for each in counts for reason in each},
        key=lambda reason: (-max(each.get(reason, 0) for each in counts), reason),
    )
    shown = reasons[: style.most(REASONS_MAX)]
    rows = [(f"  {reason}", *(str(each.get(reason, 0)) for each in counts)) for reason in shown]
    left_out = reasons[len(shown) :]
    if left_out:
        sums = (sum(each.get(reason, 0) for reason in left_out) for each in counts)
        rows.append((f"  {len(left_out)} other reasons", *map(str, sums)))
    return rows


def _family_rows(name: str, families: Sequence[FamilyReport]) -> list[Row]:
    rows = [
        (f"{name}devices in use", *(f"{each.in_use} of {each.devices}" for each in families)),
        (f"{name}device memory in use", *map(_memory, families)),
    ]
    if any(each.cores_used for each in families):
        rows.append((f"{name}device cores in use", *map(_cores, families)))
    if any(each.unusable_mib for each in families):
        rows.append((f"{name}fragmentation", *map(_fragmentation, families)))
    return rows


def _memory(family: FamilyReport) -> str:
    return _part(family.memory_used_mib, family.memory_mib, f" of {gib(family.memory_mib)} GiB")


def _cores(family: FamilyReport) -> str:
    return _part(family.cores_used, family.cores, "")


def _fragmentation(family: FamilyReport) -> str:
    if not family.free_mib:
        return "none is free"
    return f"{gib(family.unusable_mib)} of {gib(family.free_mib)} GiB"


def _part(part: int, whole: int, of: str) -> str:
    """Return the part in tenths of a per cent, which is what policies often differ by."""
    return f"{part * 100 / whole:.1f}%{of}" if whole else "none"


def _emptied(report: ReplayReport, style: Style) -> list[str]:
    rows = [(run.policy, _nodes(run.emptied, style)) for run in report.runs if run.emptied]
    headers = ("ONLY UNDER", "THESE NODES HAVE NONE OF THE PODS")
    if not rows:
        return []
    return table(
        headers, rows, width=style.width, first_colour="green", has_headers=style.has_headers
    )


def _nodes(names: Sequence[str], style: Style) -> str:
    shown = names[: style.most(NODES_MAX)]
    left_out = len(names) - len(shown)
    return " ".join([*shown, f"and {left_out} more"] if left_out else shown)


# Pods


def _differences(report: ReplayReport, style: Style) -> list[str]:
    shown = report.differences[: style.rows_max]
    left_out = len(report.differences) - len(shown)
    runs = report.runs if style.is_wide else report.runs[:2]
    lines: list[str] = []
    if shown:
        lines = table(
            ["POD THAT DIFFERS", *_headers(runs, style)],
            [_difference(each, len(runs), style) for each in shown],
            width=style.width,
            first_colour="cyan",
            has_headers=style.has_headers,
        )
    if left_out:
        lines.append(f"... and {left_out} more; --limit or -o wide lists them.")
    return lines


def _difference(each: DifferenceReport, runs: int, style: Style) -> Row:
    return (each.pod, *(_decision(decision, style) for decision in each.decisions[:runs]))


def _decision(decision: DecisionReport, style: Style) -> str:
    if decision.node:
        given = devices(decision.devices)
        return f"{decision.node} [{given}]" if given else decision.node
    refusals = decision.refusals[: style.most(REFUSALS_MAX)]
    if not refusals[0].nodes:
        return refusals[0].reason
    return f"refused: {', '.join(map(_refusal, refusals))}"


def _refusal(limit: LimitReport) -> str:
    return f"{limit.reason} on {limit.nodes} {'node' if limit.nodes == 1 else 'nodes'}"


def _apart(report: ReplayReport, style: Style) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for each in report.apart:
        reasons.setdefault(each.reason, []).append(each.pod)
    rows = [(_nodes(pods, style), reason) for reason, pods in reasons.items()]
    if not rows:
        return []
    headers = ("LEFT OUT", "BECAUSE IT")
    return table(
        headers, rows, width=style.width, first_colour="cyan", has_headers=style.has_headers
    )


# The rest


def _remarks(report: ReplayReport, style: Style) -> list[str]:
    sentences = remarks(report.not_evaluated, report.input.notes, _plain(style))
    return [line for text in sentences for line in paragraph(text, width=style.width)]


def _closing(report: ReplayReport, times: Times, style: Style) -> list[str]:
    spent = PlanTimes(reading_s=times.reading_s, planning_s=times.replaying_s)
    return closing(report.input.objects, report.problems, spent, _plain(style), did="Replayed")


def _plain(style: Style) -> PlanStyle:
    """Return what the parts that a plan has too need to know of the style."""
    return PlanStyle(
        is_wide=style.is_wide,
        has_headers=style.has_headers,
        has_warnings=style.has_warnings,
        width=style.width,
    )
