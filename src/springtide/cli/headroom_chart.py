"""What each pool's devices hold, as bars of text: memory, cores, and how many have how much free."""

from collections.abc import Iterator
from typing import Final

from springtide.apps.headroom.report import DevicesReport, HeadroomReport, PoolReport
from springtide.cli.headroom_table import gib, model

FULL: Final = "█"
EMPTY: Final = "░"
BAR: Final = 40
BAR_MIN: Final = 10
WORDS: Final = 40
"""Columns of a line beside the bar."""
BINS: Final = ("none free", "up to 1/4", "up to 1/2", "up to 3/4", "nearly all", "all free")


def drawn(report: HeadroomReport, *, width: int | None) -> list[str]:
    """Return the lines of the chart; there are none without devices."""
    size = BAR if width is None else max(BAR_MIN, min(BAR, width - WORDS))
    blocks = [_block(pool, devices, size) for pool in report.pools for devices in pool.devices]
    return [line for block in blocks for line in ("", *block)][1:]


def _block(pool: PoolReport, devices: DevicesReport, size: int) -> list[str]:
    nodes = "1 node" if pool.nodes == 1 else f"{pool.nodes} nodes"
    title = f"{pool.name}: {devices.devices} × {model(devices)} on {nodes}"
    memory = f"of {gib(devices.memory_mib)} GiB"
    bars = [("memory", devices.memory_used_mib, devices.memory_mib, memory)]
    if devices.cores:
        bars.append(("cores", devices.cores_used, devices.cores, ""))
    lines = [_used(*bar, size=size) for bar in bars if bar[2]]
    return [title, *lines, *_histogram(devices, size)]


def _used(name: str, used: int, total: int, of: str, *, size: int) -> str:
    filled = min(size, max(0, round(used * size / total)))
    bar = FULL * filled + EMPTY * (size - filled)
    return f"  {name:<10}  {bar}  {used * 100 // total}% in use {of}".rstrip()


def _histogram(devices: DevicesReport, size: int) -> Iterator[str]:
    most = max(devices.free_memory, default=0)
    for name, count in zip(BINS, devices.free_memory, strict=True):
        # What is there is to be seen, however little it is.
        length = max(round(count * size / most), 1) if count else 0
        yield f"  {name:<10}  {FULL * length}{' ' if length else ''}{count}"
