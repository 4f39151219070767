"""The guard: a validating webhook that keeps replicas that hold state from being scaled away by hand.

`process` composes it and `surface` answers reviews by the table of `endpoints`. `watching` knows which
workloads are guarded, `floors` how many replicas must stay: from the metric by which autoscalers are kept away
from them, too, and by the code of the adapter. What is decided is in `engine.guard`.
"""

from springtide.apps.guard.process import Process
from springtide.apps.guard.settings import Deadlines, Settings, settings

__all__ = ["Deadlines", "Process", "Settings", "settings"]
