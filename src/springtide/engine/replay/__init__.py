"""Replay: pods placed one after the other as they once came, and what comes of it.

`turns` says in which order pods come and go, `placing` places them in that order on the class tables,
`fates` compares where they went under two policies, `usage` and `fragmentation` measure what the
devices hold in the end and what of the rest is of no use.
"""

from springtide.engine.replay.fates import Change, Fate, change, fate
from springtide.engine.replay.fragmentation import Fragments, Shape, fragments, shapes
from springtide.engine.replay.placing import Answer, placed_in_turn
from springtide.engine.replay.turns import Turn, arrivals, turns
from springtide.engine.replay.usage import DevicesUse, rows_in_use, usage

__all__ = [
    "Answer",
    "Change",
    "DevicesUse",
    "Fate",
    "Fragments",
    "Shape",
    "Turn",
    "arrivals",
    "change",
    "fate",
    "fragments",
    "placed_in_turn",
    "rows_in_use",
    "shapes",
    "turns",
    "usage",
]
