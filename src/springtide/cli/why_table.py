"""The answer about pods for people: whether it fits, what every node says, and what would help.

`wide` holds back nothing; otherwise long lists end in how many more there are.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import click
from msgspec.structs import replace

from springtide.apps.why.compose import NO_CHANGE
from springtide.apps.why.report import (
    ChangeReport,
    NodeDevices,
    NodesVerdict,
    PodWhy,
    WhyReport,
)
from springtide.cli.layout import paragraph
from springtide.cli.names import listed
from springtide.cli.plan_table import (
    INDENT,
    Style,
    Times,
    closing,
    remarks,
    rows_table,
)
from springtide.engine.explain import ChangeKind

FITS: Final = "fits"
GROUPS_TOLD_MIN: Final = 3
DEVICE_HEADERS: Final = ("NODE", "DEVICE", "TYPE", "FREE MIB", "CORES", "SLOTS", "REASON")


def render(report: WhyReport, times: Times, style: Style) -> str:
    """Return the whole text."""
    asked = [each for each in report.pods if each.verdicts or not each.fits]
    settled = [each for each in report.pods if each not in asked]
    if len(report.pods) == 1:
        asked, settled = settled + asked, []
    shown = asked[: style.rows_max]
    left_out = sum(len(each.pods) for each in asked[len(shown) :])
    more = f"{left_out} more pods; -o wide tells all of them." if left_out else ""
    sections = (
        *(lines for each in shown for lines in _pod(each, style)),
        paragraph(more, width=style.width),
        _settled(settled, style),
        [
            line
            for text in remarks(report.not_evaluated, report.input.notes, style)
            for line in paragraph(text, width=style.width)
        ],
        closing(report.input.objects, report.problems, times, style, did="Explained"),
    )
    return "\n\n".join("\n".join(lines) for lines in sections if any(lines))


def _pod(item: PodWhy, style: Style) -> Iterator[list[str]]:
    """Yield the sections about one pod, or about several that get the same answer."""
    yield _answer(item, style)
    yield _verdicts(item, style)
    yield _devices(item, style)
    yield _changes(item, style)
    yield _groups(item, style)
    yield _messages(item, style)


def _settled(items: Sequence[PodWhy], style: Style) -> list[str]:
    """Return a table of pods that need no node, because they have one or have ended."""
    rows = [(_who(each, style), each.answer.removeprefix("It ").rstrip(".")) for each in items]
    return rows_table(("POD", "WHAT IT DOES"), rows, style)


def _who(item: PodWhy, style: Style) -> str:
    return " ".join(item.pods) if style.is_wide else listed(item.pods)


def _answer(item: PodWhy, style: Style) -> list[str]:
    each = "" if len(item.pods) == 1 else ": each"
    says = item.answer.removeprefix("It ")
    lines = paragraph(f"{_who(item, style)}{each} {says}", width=style.width)
    return [click.style(line, bold=True) for line in lines]


def _verdicts(item: PodWhy, style: Style) -> list[str]:
    total = sum(len(each.nodes) for each in item.verdicts)
    rows = [
        (_nodes(each.nodes, total, style), FITS if each.fits else each.reason, each.sentence)
        for each in item.verdicts
        if not (each.fits and len(item.verdicts) == 1)
    ]
    return rows_table(("NODES", "REASON", "WHY"), rows, _whole(item, style))


def _whole(item: PodWhy, style: Style) -> Style:
    """Return the style without a limit on rows where every node was asked for."""
    is_whole = any(verdict.devices for verdict in item.verdicts)
    return replace(style, is_wide=True) if is_whole else style


def _nodes(names: Sequence[str], total: int, style: Style) -> str:
    if style.is_wide or len(names) == 1:
        return " ".join(names)
    if len(names) == total:
        return f"all {total} nodes"
    return f"{len(names)} nodes: {listed(names)}"


def _devices(item: PodWhy, style: Style) -> list[str]:
    rows = [
        row for verdict in item.verdicts for each in verdict.devices for row in _rows(each, verdict)
    ]
    return rows_table(DEVICE_HEADERS, rows, _whole(item, style))


def _rows(devices: NodeDevices, verdict: NodesVerdict) -> Iterator[tuple[str, ...]]:
    for index, each in enumerate(devices.devices):
        yield (
            "" if index else devices.node,
            each.id,
            each.type,
            f"{each.memory_free}/{each.memory}",
            f"{each.cores_free}/{each.cores}",
            f"{each.slots_free}/{each.slots}",
            each.reason or (FITS if verdict.fits else ""),
        )


def _changes(item: PodWhy, style: Style) -> list[str]:
    rows = [
        ("smallest" if index == 0 else "or", text, node)
        for index, (text, node) in enumerate(_told(item.changes, style))
    ]
    lines = rows_table(("CHANGE", "WHAT WOULD HELP", "WHERE IT FITS THEN"), rows, style)
    if item.remedy:
        return paragraph(item.remedy, width=style.width)
    takes_it = any(verdict.fits for verdict in item.verdicts)
    if lines or takes_it or not item.verdicts:
        return lines
    return paragraph(NO_CHANGE, width=style.width)


def _told(changes: Sequence[ChangeReport], style: Style) -> Iterator[tuple[str, str]]:
    """Yield changes and where the pod fits then; groups that help like another in one line."""
    others = [each for each in changes if each.kind is ChangeKind.ADD_NODE][1:]
    rest = () if style.is_wide or len(others) < GROUPS_TOLD_MIN else tuple(others)
    for each in changes:
        if each not in rest:
            yield each.text, each.node
        elif each is rest[0]:
            yield f"add one to {listed([other.subject for other in rest])}", "a new node of it"


def _groups(item: PodWhy, style: Style) -> list[str]:
    alike: dict[str, list[str]] = {}
    for each in item.groups:
        why = f"{each.reason}: {each.detail}" if each.detail else each.reason
        alike.setdefault(why, []).append(each.group)
    rows = [
        (name, why)
        for why, names in alike.items()
        for name in (names if style.is_wide else [listed(names)])
    ]
    return rows_table(("GROUP", "WHY ONE MORE NODE OF IT DOES NOT HELP"), rows, style)


def _messages(item: PodWhy, style: Style) -> list[str]:
    told = [("The scheduler says", item.message)]
    if item.last_message and (item.fits or style.is_wide):
        told.append(("The cluster's scheduler said last", item.last_message))
    return [
        line
        for what, text in told
        if text
        for line in paragraph(f"{what}: {text}", width=style.width, indent=INDENT)
    ]
