"""Headroom as CSV, one line an ask and pool, and as names, for programs and spreadsheets."""

import csv
import io
from collections.abc import Iterator
from typing import Final

from springtide.apps.headroom.report import AskReport, HeadroomReport, LimitReport

ALL: Final = "(all)"
COLUMNS: Final = (
    "name", "source", "ask", "running", "waiting", "pool",
    "more", "on_one_node", "nodes", "limit", "limit_nodes", "limit_devices",
)  # fmt: skip


def as_csv(report: HeadroomReport, *, has_headers: bool) -> str:
    """Return every ask in all pools together and in each one, with its first limit."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if has_headers:
        writer.writerow(COLUMNS)
    for ask in report.asks:
        writer.writerows(_rows(ask))
    return buffer.getvalue().rstrip("\n")


def as_names(report: HeadroomReport) -> str:
    """Return the asks of which more fit as resource names, one a line."""
    return "\n".join(f"ask.springtide.io/{ask.name}" for ask in report.asks if ask.more)


def _rows(ask: AskReport) -> Iterator[tuple[str | int, ...]]:
    own = (ask.name, ask.source, ask.text, ask.running, ask.waiting)
    yield (*own, ALL, ask.more, ask.on_one_node, ask.nodes, *_first(ask.limits))
    for pool in ask.pools:
        yield (*own, pool.pool, pool.more, pool.on_one_node, pool.nodes, *_first(pool.limits))


def _first(limits: tuple[LimitReport, ...]) -> tuple[str, int, int]:
    first = next(iter(limits), LimitReport(reason="", nodes=0))
    return first.reason, first.nodes, first.devices
