"""ImageLocality: nodes that have the pod's images already, the more so the more nodes have them.

A large image that few nodes have would draw all of its pods to them, so what an image is worth
grows with the share of nodes that have it.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import numpy as np

from springtide.engine.framework.rule import Selection
from springtide.engine.scoring.ask import ScoreAsk
from springtide.engine.scoring.scorer import SCORE_MAX, Answer, as_is
from springtide.model.columns import Int64, Interner
from springtide.model.ledger import Ledger
from springtide.model.node import Image

MIB: Final = 2**20
BYTES_MIN: Final = 23 * MIB
"""About the size of the smallest image that is worth anything."""
BYTES_MAX: Final = 1000 * MIB
"""What more of an image is worth nothing, for each container."""
LEDGERS_MAX: Final = 8

_NOWHERE: Final = (np.zeros(0, np.int64), np.zeros(0, np.int64))

ImageSets = Interner[tuple[Image, ...]]


class ImageLocality:
    """The ImageLocality plugin of kube-scheduler."""

    name = "ImageLocality"

    def score(self, ask: ScoreAsk, ledger: Ledger, selected: Selection) -> Answer:
        """Add up what the images are worth on each distinct set of images."""
        images = ask.preferences.images
        worth: Int64 = np.zeros(len(ledger.imagesets), np.int64)
        holders = _holders_of(ledger.imagesets)
        nodes = np.bincount(ledger.imageset[: ledger.count], minlength=len(ledger.imagesets))
        for name in images:
            sets, sizes = holders.of(_full_name(name))
            if len(sets):
                spread = int(nodes[sets].sum()) / ledger.count
                worth[sets] += (sizes * spread).astype(np.int64)
        highest = BYTES_MAX * max(len(images), 1)
        scores = SCORE_MAX * (np.clip(worth, BYTES_MIN, highest) - BYTES_MIN)
        return as_is((scores // (highest - BYTES_MIN)).take(ledger.imageset[selected.cells]))


class _Holders:
    """Which distinct sets of images hold an image, by each of its names, and its size there."""

    def __init__(self, imagesets: ImageSets) -> None:
        self._imagesets = imagesets
        self._known = 0
        self._sizes: dict[str, dict[int, int]] = {}
        self._columns: dict[str, tuple[Int64, Int64]] = {}

    def of(self, name: str) -> tuple[Int64, Int64]:
        """Return the codes of the sets that hold the image, and its sizes there."""
        self._follow()
        sizes = self._sizes.get(name)
        if sizes is None:
            return _NOWHERE
        found = self._columns.get(name)
        if found is None:
            found = self._columns[name] = _column(sizes.keys()), _column(sizes.values())
        return found

    def _follow(self) -> None:
        fresh = self._imagesets.values[self._known :]
        if not fresh:
            return
        for code, images in enumerate(fresh, self._known):
            for image in images:
                for name in image.names:
                    self._sizes.setdefault(name, {}).setdefault(code, image.size_bytes)
        self._known = len(self._imagesets)
        self._columns.clear()


@lru_cache(maxsize=LEDGERS_MAX)
def _holders_of(imagesets: ImageSets) -> _Holders:
    return _Holders(imagesets)


def _column(values: Iterable[int]) -> Int64:
    return np.array(list(values), np.int64)


def _full_name(name: str) -> str:
    """Return the name with the tag that is meant where it has none."""
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"
