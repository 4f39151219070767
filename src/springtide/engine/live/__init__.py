"""The live scheduler's decisions: reservations, inventory, node locks, binds and admission, all pure.

`Live` owns the ledger. What informers and callers tell it are method calls with the time of the
call; what should be done in the cluster are commands that it returns, whose outcomes are told in turn.
"""

from springtide.engine.live.account import node_as_used, pods_as_held
from springtide.engine.live.answers import Admitted, Filtered, Submitted
from springtide.engine.live.commands import (
    AnswerBind,
    Command,
    Commands,
    CreateBinding,
    Done,
    Failed,
    Fault,
    NodeRead,
    Outcome,
    PatchNode,
    PatchPod,
    PodRead,
    ReadNode,
    ReadPod,
    RecordEvent,
)
from springtide.engine.live.live import Live
from springtide.engine.live.settings import LiveSettings

__all__ = [
    "Admitted",
    "AnswerBind",
    "Command",
    "Commands",
    "CreateBinding",
    "Done",
    "Failed",
    "Fault",
    "Filtered",
    "Live",
    "LiveSettings",
    "NodeRead",
    "Outcome",
    "PatchNode",
    "PatchPod",
    "PodRead",
    "ReadNode",
    "ReadPod",
    "RecordEvent",
    "Submitted",
    "node_as_used",
    "pods_as_held",
]
