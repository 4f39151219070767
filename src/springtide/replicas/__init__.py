"""What a stateful service embeds to know how many replicas are wanted, and which of them serve.

`ReplicaController` runs inside the service's event loop, `ThreadedController` beside a program that has none.
Members meet in a store of `springtide.edge.store`; one of them decides, and all follow. Labels move nothing:
the application is told and moves its state, with what `ownership` and `migration` give it.

    controller = ReplicaController(settings, identity, store=store, clock=clock, calendar=calendar, log=log)
    controller.set_ready_check(rooms.are_loaded)
    controller.set_stateful_check(rooms.any_left)
    controller.subscribe("target_changed", rooms.rebalance)
    await controller.start()
"""

from springtide.replicas.asking import CALLBACK_S_MAX, Callback, Failed
from springtide.replicas.context import Identity, Times
from springtide.replicas.controller import ReplicaController, SelectMode
from springtide.replicas.discovery import Discovery, WatchMode
from springtide.replicas.observing import Observed, Observers
from springtide.replicas.occurrences import (
    Complaint,
    InputUnknown,
    Kind,
    LeaderChanged,
    MemberLost,
    MembersChanged,
    Occurrence,
    ReadyChanged,
    RoundChanged,
    TargetChanged,
)
from springtide.replicas.orders import NotLeading, Orders
from springtide.replicas.providing import ReplicaProvider
from springtide.replicas.pulling import Metrics, NoMetrics, PolicyPull
from springtide.replicas.snapshot import PolicyShown, Snapshot, Tally
from springtide.replicas.stopping import drain, until_told
from springtide.replicas.threaded import ThreadedController
from springtide.replicas.writing import REPLACED, Write

__all__ = [
    "CALLBACK_S_MAX",
    "REPLACED",
    "Callback",
    "Complaint",
    "Discovery",
    "Failed",
    "Identity",
    "InputUnknown",
    "Kind",
    "LeaderChanged",
    "MemberLost",
    "MembersChanged",
    "Metrics",
    "NoMetrics",
    "NotLeading",
    "Observed",
    "Observers",
    "Occurrence",
    "Orders",
    "PolicyPull",
    "PolicyShown",
    "ReadyChanged",
    "ReplicaController",
    "ReplicaProvider",
    "RoundChanged",
    "SelectMode",
    "Snapshot",
    "Tally",
    "TargetChanged",
    "ThreadedController",
    "Times",
    "WatchMode",
    "Write",
    "drain",
    "until_told",
]
