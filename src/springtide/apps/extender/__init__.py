"""The process around the live scheduler: a scheduler extender and admission webhook, in HAMi's place.

`process` composes it. `scheduling` owns the live scheduler; `following` tells it what the cluster is like,
`performing` does what it wants done and `announcing` tells people of it, `leading` and `roles` say who
decides. `endpoints` is the API that callers see, `surface` what is behind it. `figures`, `standing` and
`device_metrics` are its metrics.
`explaining` answers why a pod has no node, by a process beside this one that is told its `knowledge`.
"""

from springtide.apps.extender.log import Log
from springtide.apps.extender.process import Candidacy, Endpoints, Process, Times
from springtide.apps.extender.settings import Choosing, Deadlines, Settings, Sizes

__all__ = [
    "Candidacy",
    "Choosing",
    "Deadlines",
    "Endpoints",
    "Log",
    "Process",
    "Settings",
    "Sizes",
    "Times",
]
