"""Replays of recorded clusters: pods come one by one, are placed once and stay.

`workload` says who comes in which order and how nodes rank, drawn from a seed or as recorded; `state`
is the cluster while it fills, `tables` keep what a policy thinks of each node for each class of pods,
`replay` places one pod after the other. `measuring` turns placements, whoever made them, into a `Run`:
what is allocated, what is a fragment for the typical pods (`typical`, `fragmentation`), and what failed.
"""

from springtide.engine.trace.errors import UnusableTrace
from springtide.engine.trace.run import Capacity, Run
from springtide.engine.trace.workload import Workload, recorded, seeded

__all__ = ["Capacity", "Run", "UnusableTrace", "Workload", "recorded", "seeded"]
