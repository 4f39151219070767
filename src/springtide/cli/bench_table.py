"""A benchmark for people: the answer first, then a table a trace, the checks, and what was run."""

from collections.abc import Sequence
from typing import Final

import click
import msgspec

from springtide.apps.bench.report import BenchReport, CheckReport, RunReport, Spread, SpreadReport
from springtide.cli.layout import paragraph, table

AT: Final = ("100", "130")
TIMES: Final = "P50/P99 µS"
RATIOS: Final = "× REF."
HEADERS: Final = (
    "POLICY",
    *(f"AT {at}%" for at in AT),
    "AT THE END",
    "FRAGMENT",
    "FAILED",
    "PODS/S",
    TIMES,
    RATIOS,
)
NARROW: Final = 110
DELAY_MIN: Final = 1.2
"""Below this other work does not change what is told."""
AT_LEGEND: Final = "AT 100%: GPUs that are allocated when the pods so far ask for 100% of all."
FRAGMENT_LEGEND: Final = (
    "FRAGMENT: idle GPUs that typical pods cannot use, at the end. Both in % of all GPUs."
)
END_LEGEND: Final = "AT THE END: GPUs that are allocated."
REFERENCE: Final = (
    f"{RATIOS}: pods a second as a multiple of the published simulator's, as it is shipped / without "
    "its report a pod."
)
COLOURS: Final = {"passed": "green", "failed": "red", "skipped": "yellow"}


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """How wide to print; no width means lines of any length."""

    width: int | None = None

    @property
    def is_narrow(self) -> bool:
        """Return whether there is no place for what matters least."""
        return self.width is not None and self.width < NARROW


def render(report: BenchReport, took_s: float, style: Style) -> str:
    """Return the whole text."""
    traces = dict.fromkeys(each.trace for each in report.spreads)
    sections: tuple[Sequence[str], ...] = (
        [click.style(line, bold=True) for line in paragraph(report.summary, width=style.width)],
        *(_trace(report, trace, style) for trace in traces),
        _legend(report, style),
        _delay(report, style),
        _checks(report.checks, style),
        paragraph(_closing(report, took_s), width=style.width),
    )
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


# Traces


def _trace(report: BenchReport, trace: str, style: Style) -> list[str]:
    run = next(each for each in report.runs if each.trace == trace)
    spreads = [each for each in report.spreads if each.trace == trace]
    rows = [_row(each) for each in spreads]
    shown = [
        index
        for index, cells in enumerate(zip(*rows, strict=True))
        # A column that says nothing anywhere is left out, and what matters least where it is narrow.
        if any(cells) and not (style.is_narrow and HEADERS[index] == TIMES)
    ]
    lines = table(
        [HEADERS[index] for index in shown],
        [[row[index] for index in shown] for row in rows],
        width=style.width,
        first_colour="cyan",
    )
    setting = _setting(run, pods=spreads[0].pods.mean, runs=spreads[0].runs)
    return [*paragraph(setting, width=style.width), *lines]


def _setting(run: RunReport, *, pods: float, runs: int) -> str:
    if run.replay is not None:
        order = f"in the order of {run.replay}"
    elif runs == 1:
        order = f"in the order of seed {run.seed}"
    else:
        order = f"in {runs} orders, mean±standard deviation"
    return f"{run.trace}: {pods:,.0f} pods on {run.nodes:,} nodes with {run.gpus:,} GPUs, {order}"


def _row(each: SpreadReport) -> list[str]:
    at = [_spread(each.alloc_pct[name], 2) for name in AT]
    return [
        each.policy,
        *at,
        "" if at[-1] else _spread(each.gpu_pct, 2),
        _spread(each.frag_pct_of_capacity, 2),
        _spread(each.failed, 0),
        f"{each.pods_per_s.mean:,.0f}",
        f"{each.decision_us_p50.mean:,.0f}/{each.decision_us_p99.mean:,.0f}",
        _ratios(each),
    ]


def _spread(spread: Spread | None, digits: int) -> str:
    if spread is None:
        return ""
    told = f"{spread.mean:,.{digits}f}"
    return told if spread.sd is None else f"{told}±{spread.sd:,.{digits}f}"


def _ratios(each: SpreadReport) -> str:
    if each.times_as_shipped is None or each.times_report_off is None:
        return ""
    return f"{each.times_as_shipped:,.0f}/{each.times_report_off:,.0f}"


def _legend(report: BenchReport, style: Style) -> list[str]:
    is_at = any(each.alloc_pct[name] is not None for each in report.spreads for name in AT)
    told = [f"{AT_LEGEND if is_at else END_LEGEND} {FRAGMENT_LEGEND}"]
    if any(map(_ratios, report.spreads)):
        told.append(f"{REFERENCE} {report.reference}")
    return [line for text in told for line in paragraph(text, width=style.width)]


def _delay(report: BenchReport, style: Style) -> list[str]:
    """Return that other work kept the runs waiting, if it did."""
    clock_s = sum(each.schedule_s for each in report.runs)
    processor_s = sum(each.cpu_s for each in report.runs)
    if clock_s < DELAY_MIN * processor_s:
        return []
    told = (
        f"The processor was busy with other work: decisions took {clock_s / processor_s:.1f} times as "
        "long by the clock as in time of the processor, so PODS/S would be higher on a quiet machine."
    )
    return paragraph(told, width=style.width)


# Checks


def _checks(checks: Sequence[CheckReport], style: Style) -> list[str]:
    if not checks:
        return []
    rows = [[check.state, check.name, check.text] for check in checks]
    plain = table(["CHECK", "OF", "NUMBERS"], rows, width=style.width)
    return [plain[0], *(_coloured(line) for line in plain[1:])]


def _coloured(line: str) -> str:
    state, rest = line.partition(" ")[0], line.partition(" ")
    colour = COLOURS.get(state)
    return line if colour is None else f"{click.style(state, fg=colour)}{''.join(rest[1:])}"


def _closing(report: BenchReport, took_s: float) -> str:
    run = report.runs[0]
    runs = "1 run" if len(report.runs) == 1 else f"{len(report.runs):,} runs"
    engines = " and ".join(dict.fromkeys(each.engine for each in report.runs))
    return (
        f"{runs} by {report.done_by} on {run.cores} cores, engine {engines}, Python {run.python}, "
        f"numpy {run.numpy}, in {took_s:.2f} s."
    )
