"""Starts and stops members outside Kubernetes, or tells somebody how many there are to be.

`port` says what every executor does. By index: `processes` of this machine, and units of `systemd`. By number:
`commands`, a `webhook`, and the scale of a workload in a cluster (`kube_scale`). `errors` lists what can go
wrong: above all, whether an order may have had its effect. None of them tries anything twice by itself.
"""

from springtide.edge.executors.commands import Called, Commands
from springtide.edge.executors.errors import ExecutorFault, NotDone, OutcomeUnknown, Unobservable
from springtide.edge.executors.holding import Held, hold
from springtide.edge.executors.kube_scale import KubeScale, Place
from springtide.edge.executors.port import ByIndex, ByNumber, Executor
from springtide.edge.executors.processes import Pool, Processes
from springtide.edge.executors.systemd import Systemd, Units
from springtide.edge.executors.webhook import Hook, Webhook

__all__ = [
    "ByIndex",
    "ByNumber",
    "Called",
    "Commands",
    "Executor",
    "ExecutorFault",
    "Held",
    "Hook",
    "KubeScale",
    "NotDone",
    "OutcomeUnknown",
    "Place",
    "Pool",
    "Processes",
    "Systemd",
    "Units",
    "Unobservable",
    "Webhook",
    "hold",
]
