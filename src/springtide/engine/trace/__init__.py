"""Replays of recorded clusters: pods come one by one, are placed once and stay.

`workload` says who comes in which order and how nodes rank, drawn from a seed or as recorded; `state`
is the cluster while it fills, `tables` keep what a policy thinks of each node for each class of pods,
`replay` places one pod after the other. `measuring` turns placements, whoever made them, into a `Run`:
what is allocated, what is a fragment for the typical pods (`typical`, `fragmentation`), and what failed.
"""

from springtide.engine.trace.chance import Chance, Stream
from springtide.engine.trace.errors import UnusableTrace
from springtide.engine.trace.fragmentation import LABELS, Fragmentation
from springtide.engine.trace.measuring import measured
from springtide.engine.trace.policy import Placing, Policy, Setting
from springtide.engine.trace.replay import Placed, Replay, replayed
from springtide.engine.trace.run import NOWHERE, Capacity, Run
from springtide.engine.trace.shape import Shape, shape_of
from springtide.engine.trace.state import State
from springtide.engine.trace.workload import Workload, recorded, seeded

__all__ = [
    "LABELS",
    "NOWHERE",
    "Capacity",
    "Chance",
    "Fragmentation",
    "Placed",
    "Placing",
    "Policy",
    "Replay",
    "Run",
    "Setting",
    "Shape",
    "State",
    "Stream",
    "UnusableTrace",
    "Workload",
    "measured",
    "recorded",
    "replayed",
    "seeded",
    "shape_of",
]
