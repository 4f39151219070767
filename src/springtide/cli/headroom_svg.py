"""The chart of headroom as one SVG file: readable on light and dark ground, with nothing from outside.

For every type of devices in a pool two bars, how much memory and how many cores are in use, and
beside them how many devices have how much memory free.
"""

from collections.abc import Iterator
from html import escape
from typing import Final, NamedTuple

from springtide.apps.headroom.report import DevicesReport, HeadroomReport, PoolReport
from springtide.cli.headroom_chart import BINS
from springtide.cli.headroom_table import gib, model

WIDTH: Final = 960
TOP: Final = 72
BLOCK: Final = 150
BAR_LEFT, BAR_WIDTH, BAR_HEIGHT = 90, 400, 18
BIN_LEFT, BIN_WIDTH, BIN_HEIGHT = 580, 58, 70
STYLE: Final = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 18px; font-weight: 600 }
.pool { font-weight: 600 }
.axis { font-size: 11px; fill: #57606a }
.ground { fill: #ffffff }
.rest { fill: #d0d7de }
.memory { fill: #0969da }
.cores { fill: #bc4c00 }
.free { fill: #1a7f37 }
.line { stroke: #8c959f; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .axis { fill: #9198a1 }
  .ground { fill: #0d1117 }
  .rest { fill: #3d444d }
  .memory { fill: #58a6ff }
  .cores { fill: #f0883e }
  .free { fill: #3fb950 }
}
"""


def drawn(report: HeadroomReport) -> str:
    """Return the document."""
    blocks = [(pool, devices) for pool in report.pools for devices in pool.devices]
    height = TOP + BLOCK * max(len(blocks), 1)
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title about">',
        '<title id="title">Occupancy of devices</title>',
        f'<desc id="about">{escape(report.summary)}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{height}"/>',
        _text(24, 32, "Occupancy of devices", "title"),
        _text(24, 54, report.summary, "axis"),
    ]
    if not blocks:
        lines.append(_text(24, TOP + 24, "There are no devices."))
    for index, (pool, devices) in enumerate(blocks):
        lines += _block(pool, devices, TOP + BLOCK * index)
    return "\n".join([*lines, "</svg>", ""])


def _block(pool: PoolReport, devices: DevicesReport, top: int) -> Iterator[str]:
    nodes = "1 node" if pool.nodes == 1 else f"{pool.nodes} nodes"
    title = f"{pool.name}: {devices.devices} × {model(devices)} on {nodes}"
    yield _text(24, top + 22, title, "pool")
    memory = f"{gib(devices.memory_mib)} GiB"
    yield from _bar("memory", devices.memory_used_mib, devices.memory_mib, memory, top=top + 36)
    yield from _bar("cores", devices.cores_used, devices.cores, "", top=top + 64)
    for part in (0, 25, 50, 75, 100):
        at = BAR_LEFT + BAR_WIDTH * part // 100
        yield _line(at, top + 84, at, top + 89)
        yield _text(at, top + 102, f"{part}%", "axis", anchor="middle")
    yield _text(BAR_LEFT + BAR_WIDTH // 2, top + 120, "in use", "axis", anchor="middle")
    yield from _histogram(devices, top + 22)


def _bar(name: str, used: int, total: int, of: str, *, top: int) -> Iterator[str]:
    share = min(used / total, 1.0) if total else 0.0
    told = f"{used * 100 // total}%{f' of {of}' if of else ''}" if total else "none"
    filled = _Box(BAR_LEFT, top, round(BAR_WIDTH * share), BAR_HEIGHT)
    yield _text(24, top + 14, name)
    yield _rect(_Box(BAR_LEFT, top, BAR_WIDTH, BAR_HEIGHT), "rest")
    yield _rect(filled, name, title=f"{name}: {told} in use")
    yield _text(BAR_LEFT + BAR_WIDTH + 8, top + 14, told.partition(" ")[0])


def _histogram(devices: DevicesReport, top: int) -> Iterator[str]:
    base = top + BIN_HEIGHT + 12
    most = max(devices.free_memory, default=0)
    for index, (name, count) in enumerate(zip(BINS, devices.free_memory, strict=True)):
        left = BIN_LEFT + index * BIN_WIDTH
        height = max(round(BIN_HEIGHT * count / most), 2) if count else 0
        middle = left + BIN_WIDTH // 2
        box = _Box(left + 6, base - height, BIN_WIDTH - 12, height)
        yield _rect(box, "free", title=f"{count} {name}")
        yield _text(middle, base - height - 4, str(count), anchor="middle")
        yield _text(middle, base + 14, name, "axis", anchor="middle")
    right = BIN_LEFT + BIN_WIDTH * len(BINS)
    yield _line(BIN_LEFT, base, right, base)
    label = "devices by free memory"
    yield _text((BIN_LEFT + right) // 2, base + 30, label, "axis", anchor="middle")


class _Box(NamedTuple):
    """Where a rectangle is: its upper left corner and its size."""

    x: int
    y: int
    width: int
    height: int


def _text(x: int, y: int, text: str, class_name: str = "", *, anchor: str = "") -> str:
    named = f' class="{class_name}"' if class_name else ""
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x}" y="{y}"{named}{anchored}>{escape(text)}</text>'


def _rect(box: _Box, class_name: str, *, title: str = "") -> str:
    size = f'width="{box.width}" height="{box.height}"'
    place = f'<rect class="{class_name}" x="{box.x}" y="{box.y}" {size}'
    return f"{place}><title>{escape(title)}</title></rect>" if title else f"{place}/>"


def _line(x1: int, y1: int, x2: int, y2: int) -> str:
    return f'<line class="line" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'
