"""Names as Prometheus knows them, from names as OpenTelemetry writes them.

The exporter joins a metric's name and unit, and marks counters. What it drops or replaces is
replaced here alike, so that a query finds what was exported.
"""

import re
from typing import Final

from springtide.model.replicas.policy import MetricKind

_NO_LABEL: Final = re.compile(r"[^A-Za-z0-9]+")
_NO_METRIC: Final = re.compile(r"[^A-Za-z0-9:]+")
_RUN: Final = re.compile(r"_+")
_WORDS: Final = {
    "": "", "1": "", "By": "bytes", "KiBy": "kibibytes", "MiBy": "mebibytes", "ms": "milliseconds",
    "s": "seconds", "min": "minutes", "h": "hours", "%": "percent",
}  # fmt: skip
"""What becomes of units as UCUM writes them; others stand for themselves."""
_TOTAL: Final = "_total"


def label_name(name: str) -> str:
    """Return a label's name as Prometheus stores it."""
    return _led(_RUN.sub("_", _NO_LABEL.sub("_", name)))


def metric_name(name: str, *, unit: str = "", kind: MetricKind = MetricKind.GAUGE) -> str:
    """Return a metric's name as Prometheus stores it."""
    base = _clean(name)
    word = _WORDS[unit] if unit in _WORDS else _clean(unit)
    total = _TOTAL if kind is MetricKind.COUNTER else ""
    base = base.removesuffix(_TOTAL) if total else base
    if word and not base.endswith(f"_{word}"):
        base = f"{base}_{word}"
    return base + total


def _clean(name: str) -> str:
    return _led(_RUN.sub("_", _NO_METRIC.sub("_", name)))


def _led(name: str) -> str:
    return f"_{name[1:]}" if name[:1].isdigit() else name
