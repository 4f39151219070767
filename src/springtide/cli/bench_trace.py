"""Where the files of a benchmark are: those that are named, else those that come with the source.

The public trace is no part of an installed package: its licence goes with the source, and few need it.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import springtide
from springtide.apps.bench.jobs import Recording
from springtide.apps.bench.run import Trace
from springtide.base.errors import SpringtideError
from springtide.cli.bench_words import TRACES
from springtide.edge.files import read
from springtide.wire.source import Source

FOLDER: Final = "tests/recorded/openb"
NODES: Final = "openb_node_list_gpu_node.csv"
PODS: Final = "openb_pod_list_"
GOLDEN: Final = "golden"
ARRIVALS: Final = "_arrivals.csv"
RANKS: Final = "_noderank.csv"
PLACEMENTS: Final = "_placements.csv"


class NotHere(SpringtideError):
    """A file that comes with the source was asked for where there is no source."""


def nodes(path: str | None) -> Source:
    """Return the list of nodes."""
    return _file(str(_bundled() / NODES) if path is None else path)


def traces(names: Sequence[str], paths: Sequence[str]) -> list[Trace]:
    """Return the lists of pods: those of the paths, else those of the names."""
    if not paths:
        folder = _bundled()
        return [Trace(name=name, pods=_file(str(folder / f"{PODS}{name}.csv"))) for name in names]
    called = [Path(path).stem.removeprefix(PODS) for path in paths]
    is_told_apart = len(set(called)) == len(called)
    return [
        Trace(name=name if is_told_apart else path, pods=_file(path))
        for name, path in zip(called, paths, strict=True)
    ]


def recording(prefix: str) -> Recording:
    """Return the order and the ranks that were recorded under a prefix."""
    found = _prefix(prefix)
    return Recording(
        name=found.name,
        arrivals=_file(f"{found}{ARRIVALS}"),
        ranks=_file(f"{found}{RANKS}"),
    )


def placements(prefix: str, trace: str) -> Source | None:
    """Return the placements that were recorded of a trace beside the order, None if there are none.

    The part of the prefix before its first `_` is the trace of the order; others stand beside it.
    """
    found = _prefix(prefix)
    owner, _, rest = found.name.partition("_")
    names = [f"{trace}_{rest}"] if rest else []
    if trace == owner or owner not in TRACES:
        names.append(found.name)
    for name in names:
        path = found.with_name(f"{name}{PLACEMENTS}")
        if path.exists():
            return _file(str(path))
    return None


def _prefix(prefix: str) -> Path:
    """Return the prefix as it is if there are such files, else among those that come with the source."""
    given = Path(prefix)
    if Path(f"{prefix}{ARRIVALS}").exists() or given.name != prefix:
        return given
    return _bundled() / GOLDEN / prefix


def _bundled() -> Path:
    folder = Path(springtide.__file__).resolve().parents[2] / FOLDER
    if not folder.is_dir():
        raise NotHere(
            f"The public trace is not here: it comes with the source, in {FOLDER}, and not with an "
            "installed package. Run springtide from a checkout, or name --nodes and --pods."
        )
    return folder


def _file(path: str) -> Source:
    return read((path,), sys.stdin.buffer)[0]
