"""Plots of a benchmark: allocation and fragmentation over arrival side by side, a row a trace.

Lines are means over the orders, bands one standard deviation to each side. matplotlib is loaded here,
when a drawing is asked for, and draws into memory alone. Colours are those of Okabe and Ito and of Tol,
which the colour-blind tell apart too; lines differ in their dashes besides, for print without colour.
"""

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from springtide.apps.bench.bands import Band, Bands
from springtide.base.errors import SpringtideError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INSTALL: Final = (
    "Drawing needs the package matplotlib, which is not installed: pip install 'springtide[plots]'."
)
COLOURS: Final = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255",
    "#44AA99", "#999933", "#8C8C8C",
)  # fmt: skip
DASHES: Final = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
_FINE: Final = re.compile(rb"([0-9]\.[0-9]{2})[0-9]+")
WIDTH_IN: Final = 11.0
ROW_IN: Final = 3.6
LEGEND_IN: Final = 0.9
DPI: Final = 144
LEGEND_COLUMNS: Final = 6
TITLE: Final = "GPU allocation and fragmentation over arrival"
STYLE: Final[dict[Any, Any]] = {
    "axes.titlesize": 11,
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.1,
    "font.size": 10,
    "legend.frameon": False,
    "legend.handlelength": 4,
    # Text stays text, which is smaller, and can be read out.
    "svg.fonttype": "none",
    "svg.hashsalt": "springtide",
}
FROM_PCT: Final = 80
"""Below it every policy allocates all that is asked for, if more than the cluster is asked for."""


class Undrawable(SpringtideError):
    """What draws is not installed."""


def needed() -> None:
    """Raise Undrawable unless drawings can be made."""
    try:
        import matplotlib as mpl  # noqa: F401, PLC0415 - takes long, and few have it
    except ImportError as fault:
        raise Undrawable(INSTALL) from fault


def drawn(bands: Sequence[Bands], *, form: str) -> bytes:
    """Return the drawing as `svg` or `png`; the same bands give the same bytes."""
    import matplotlib as mpl  # noqa: PLC0415 - as above

    file = io.BytesIO()
    with mpl.rc_context(STYLE):
        metadata = {"Date": None, "Title": TITLE} if form == "svg" else {"Title": TITLE}
        _figure(bands).savefig(file, format=form, dpi=DPI, metadata=metadata)
    # A hundredth of a point is finer than anybody sees, and half as long as what is written.
    return _FINE.sub(rb"\1", file.getvalue()) if form == "svg" else file.getvalue()


def _figure(bands: Sequence[Bands]) -> "Figure":
    # The figure alone: no window system is looked for.
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    traces = list(dict.fromkeys(each.trace for each in bands))
    height_in = ROW_IN * len(traces) + LEGEND_IN
    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    axes = figure.subplots(len(traces), 2, squeeze=False)
    policies = list(dict.fromkeys(each.policy for each in bands))
    for trace, (allocation, fragment) in zip(traces, axes, strict=True):
        shown = [each for each in bands if each.trace == trace]
        first = _first(shown)
        for each in shown:
            look = {"label": each.policy, **_look(policies.index(each.policy))}
            _curve(allocation, each.alloc_pct, look, first=first)
            _curve(fragment, each.frag_pct, look)
        _labelled(allocation, f"{trace}: allocated GPUs", "allocated, % of all GPUs")
        _labelled(fragment, f"{trace}: idle GPUs that typical pods cannot use", "% of all GPUs")
        fragment.set_ylim(bottom=0)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=LEGEND_COLUMNS)
    return figure


def _first(bands: Sequence[Bands]) -> int:
    """Return from where policies differ, if the cluster is asked for more than that."""
    last = max(len(each.alloc_pct.mean) for each in bands) - 1
    return FROM_PCT if last > FROM_PCT else 0


def _look(number: int) -> dict[str, Any]:
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": DASHES[number % len(DASHES)],
    }


def _curve(axes: "Axes", band: Band, look: dict[str, Any], *, first: int = 0) -> None:
    # A line goes on over a percent at which no pod came.
    at = np.flatnonzero(np.isfinite(band.mean))
    at = at[at >= first]
    mean, sd = band.mean[at], band.sd[at]
    axes.plot(at, mean, linewidth=1.6, **look)
    if sd.any():
        axes.fill_between(at, mean - sd, mean + sd, color=look["color"], alpha=0.15, linewidth=0)


def _labelled(axes: "Axes", title: str, unit: str) -> None:
    axes.set_title(title)
    axes.set_xlabel("asked for by the pods so far, % of all GPUs")
    axes.set_ylabel(unit)
    axes.grid(visible=True, alpha=0.3)
    axes.margins(x=0)
