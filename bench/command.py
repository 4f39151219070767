"""How long does a person wait? Whole commands, the best of ten."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.figure import Figure, wall_s

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = {
    "--help": ["--help"],
    "plan examples/warm-group": ["plan", str(ROOT / "examples" / "warm-group")],
}


def measure() -> Iterator[Figure]:
    """Yield the time of each command as a multiple of starting an interpreter that does nothing."""
    program = str(Path(sys.executable).with_name("springtide"))
    bare_s = _best([sys.executable, "-c", "pass"])
    for name, arguments in COMMANDS.items():
        took_s = _best([program, *arguments])
        how = f"{took_s * 1000:.0f} ms, a bare interpreter {bare_s * 1000:.0f} ms"
        yield Figure(name, took_s * 1000, "ms", how)


def _best(command: list[str]) -> float:
    return wall_s(lambda: subprocess.run(command, capture_output=True, check=False), repeat=10)
