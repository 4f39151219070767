"""Headroom for people: the answer first, then pools, asks of pods, the ladder, and what was read.

`wide` holds back nothing; otherwise long lists end in how many more there are.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import click
import msgspec

from springtide.apps.headroom.report import (
    AskReport,
    DevicesReport,
    HeadroomReport,
    LimitReport,
    PoolReport,
    Source,
)
from springtide.cli.layout import paragraph, table

ROWS_MAX: Final = 20
POOLS_MAX: Final = 3
LIMITS_MAX: Final = 2
NARROW: Final = 100
MIB_A_GIB: Final = 1024


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """How long the parts of the work took."""

    reading_s: float
    answering_s: float


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """How much to print and how wide; no width means lines of any length."""

    is_wide: bool = False
    has_headers: bool = True
    has_warnings: bool = False
    width: int | None = None

    @property
    def is_narrow(self) -> bool:
        """Return whether there is no place for what matters least."""
        return self.width is not None and self.width < NARROW

    def most(self, count: int) -> int | None:
        """Return how many of a list to print, None for all."""
        return None if self.is_wide else count


def render(report: HeadroomReport, times: Times, style: Style, *, chart: Sequence[str] = ()) -> str:
    """Return the whole text, with the lines of a chart if there are any."""
    sections: tuple[Sequence[str], ...] = (
        [click.style(line, bold=True) for line in paragraph(report.summary, width=style.width)],
        _asks(report, "Given", style),
        _pools(report, style),
        chart,
        _asks(report, "Pods", style),
        _left_out(report, style),
        _gangs(report, style),
        _ladder(report, style),
        [line for note in report.input.notes for line in paragraph(note, width=style.width)],
        _closing(report, times, style),
    )
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


# Gangs


def _gangs(report: HeadroomReport, style: Style) -> list[str]:
    shown = report.gangs[: style.most(ROWS_MAX)]
    rows = [
        (
            each.name,
            str(each.minimum),
            str(each.running),
            f"is short by {each.short_by}" if each.short_by else "has its places",
        )
        for each in shown
    ]
    more = len(report.gangs) - len(shown)
    if not rows:
        return []
    headers = ["GANG THAT WAITS", "AT LEAST", "FIT NOW", "SO IT"]
    lines = _table(headers, rows, style, colour="cyan")
    return [*lines, f"{more} more gangs; -o wide tells all of them."] if more else lines


# Pools


def _pools(report: HeadroomReport, style: Style) -> list[str]:
    rows = [row for pool in report.pools for row in _pool_rows(pool)]
    headers = ["POOL", "NODES", "DEVICES", "UNUSED", "MEMORY IN USE", "CORES IN USE"]
    if not any(pool.devices for pool in report.pools):
        headers, rows = headers[:2], [row[:2] for row in rows]
    return _table(headers, rows, style, colour="green")


def _pool_rows(pool: PoolReport) -> list[tuple[str, ...]]:
    if not pool.devices:
        return [(pool.name, str(pool.nodes), "none", "", "", "")]
    return [
        (
            pool.name if index == 0 else "",
            str(pool.nodes) if index == 0 else "",
            f"{each.devices} × {model(each)}",
            _unused(each),
            _part(each.memory_used_mib, each.memory_mib, f"{gib(each.memory_mib)} GiB"),
            _part(each.cores_used, each.cores, ""),
        )
        for index, each in enumerate(pool.devices)
    ]


def model(devices: DevicesReport) -> str:
    """Return the type without the family's name that plugins put before it."""
    return devices.type.removeprefix(f"{devices.family}-") or devices.family


def gib(mib: int) -> str:
    """Return MiB as GiB with as few digits as tell them."""
    return f"{mib / MIB_A_GIB:.0f}" if mib >= 10 * MIB_A_GIB else f"{mib / MIB_A_GIB:.1f}"


def _unused(devices: DevicesReport) -> str:
    unhealthy = f" ({devices.unhealthy} unhealthy)" if devices.unhealthy else ""
    return f"{devices.unused}{unhealthy}"


def _part(used: int, total: int, of: str) -> str:
    if not total:
        return "none"
    return f"{used * 100 // total}%" + (f" of {of}" if of else "")


# Asks


_TITLES: Final = {"Given": "ASK", "Pods": "PODS LIKE", "Ladder": "A POD WITH"}


def _asks(report: HeadroomReport, source: Source, style: Style) -> list[str]:
    asks = [ask for ask in report.asks if ask.source == source]
    is_of_pods, is_parted = source == "Pods", len(report.pools) > 1
    counts_pods = is_of_pods and not style.is_narrow
    columns = [
        (_TITLES[source], [_title(ask) for ask in asks]),
        *([("THERE", [_there(ask) for ask in asks])] if counts_pods else ()),
        *([("ASK", [ask.text for ask in asks])] if is_of_pods else ()),
        ("MORE", [_more(ask) for ask in asks]),
        ("ON ONE NODE", [_on_one_node(ask, style) for ask in asks]),
        *([("WHERE", [_where(ask, style) for ask in asks])] if is_parted else ()),
        ("WHAT ENDS IT", [_limits(ask, style) for ask in asks]),
    ]
    headers = [header for header, _ in columns]
    rows = list(zip(*(cells for _, cells in columns), strict=True))
    return _table(headers, rows, style, colour="green")


def _title(ask: AskReport) -> str:
    if ask.source != "Pods":
        return ask.text
    others = len(ask.workloads) - 1
    return f"{ask.name} and {others} more" if others else ask.name


def _there(ask: AskReport) -> str:
    counts = ((ask.running, "run"), (ask.waiting, "wait"))
    return ", ".join(f"{count} {word}" for count, word in counts if count)


def _more(ask: AskReport) -> str:
    return f"{ask.more} or more" if ask.is_at_least else str(ask.more)


def _on_one_node(ask: AskReport, style: Style) -> str:
    return f"{ask.on_one_node} {ask.node}".rstrip() if style.is_wide else str(ask.on_one_node)


def _where(ask: AskReport, style: Style) -> str:
    found = sorted((pool for pool in ask.pools if pool.more), key=lambda pool: -pool.more)
    shown = found[: style.most(POOLS_MAX)]
    parts = [f"{pool.pool} {pool.more}" for pool in shown]
    left_out = len(found) - len(shown)
    return ", ".join([*parts, f"and {left_out} more"] if left_out else parts)


def _limits(ask: AskReport, style: Style) -> str:
    if ask.denied:
        return f"denied: {ask.denied}"
    # Nodes that could never take such a pod do not end anything, unless nothing else does.
    full = [_limit(each) for each in ask.limits if not each.is_lasting]
    never = [_limit(each) for each in ask.limits if each.is_lasting]
    if not style.is_wide:
        return ", ".join((full or never)[:LIMITS_MAX])
    parts = (", ".join(full), f"never: {', '.join(never)}" if never else "")
    return "; ".join(part for part in parts if part)


def _limit(limit: LimitReport) -> str:
    return f"{limit.reason} on {limit.nodes} {'node' if limit.nodes == 1 else 'nodes'}"


def _ladder(report: HeadroomReport, style: Style) -> list[str]:
    """Return a row a device type with a column a step; `wide` tells every step apart."""
    steps = [ask for ask in report.asks if ask.source == "Ladder"]
    if style.is_wide or not all(ask.device for ask in steps):
        return _asks(report, "Ladder", style)
    portions = list(dict.fromkeys(ask.portion for ask in steps))
    more = {(ask.device, ask.portion): _more(ask) for ask in steps}
    rows = [
        (device, *(more.get((device, portion), "") for portion in portions))
        for device in dict.fromkeys(ask.device for ask in steps)
    ]
    headers = ["MORE PODS WITH", *(f"{each} OF ONE" if "/" in each else each for each in portions)]
    whole = "1"
    headers = [f"{whole} WHOLE" if each == whole else each for each in headers]
    return _table(headers, rows, style, colour="green")


# The rest


def _left_out(report: HeadroomReport, style: Style) -> list[str]:
    if not report.asks_left_out:
        return []
    shown = sum(ask.source == "Pods" for ask in report.asks)
    text = (
        f"{report.asks_left_out} further asks of pods are left out; "
        f"--max-asks {shown + report.asks_left_out} shows them."
    )
    return paragraph(text, width=style.width)


def _closing(report: HeadroomReport, times: Times, style: Style) -> list[str]:
    objects = report.input.objects
    read = f"Read {objects} {'object' if objects == 1 else 'objects'} in {times.reading_s:.2f} s"
    text = f"{read}{_problem_count(report, style)}. Answered in {times.answering_s:.2f} s."
    return paragraph(text, width=style.width)


def _problem_count(report: HeadroomReport, style: Style) -> str:
    problems = report.problems
    if not problems:
        return ""
    what = f"1 problem: {problems[0].object}" if len(problems) == 1 else f"{len(problems)} problems"
    return f" ({what})" if style.has_warnings else f" ({what}; --warnings says more)"


def _table(
    headers: Sequence[str], rows: Iterable[Sequence[str]], style: Style, *, colour: str
) -> list[str]:
    """Return the lines of a table, none at all without rows."""
    given = list(rows)
    if not given:
        return []
    shown = given[: style.most(ROWS_MAX)]
    lines = table(
        headers, shown, width=style.width, first_colour=colour, has_headers=style.has_headers
    )
    left_out = len(given) - len(shown)
    return [*lines, f"... and {left_out} more; -o wide lists them."] if left_out else lines
