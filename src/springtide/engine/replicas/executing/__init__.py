"""Brings the members outside Kubernetes to the number that is wanted, and spares those who must serve.

`records` are what an executor knows, learns and does. `machine` folds events, `seeing` an observation,
`deciding` starts what is missing and stops what is too much, one member after the other from the highest
down. Nothing is ordered but after an observation that began when the last order had ended, so nothing is
tried again blindly. What is unknown stops nobody.
"""

from springtide.engine.replicas.executing.machine import step
from springtide.engine.replicas.executing.records import (
    Attempt,
    Command,
    Event,
    Execution,
    ExecutionRules,
    Failed,
    Kill,
    Observe,
    Observed,
    Order,
    Phase,
    Refuse,
    Remember,
    Scaled,
    ScaleTo,
    Start,
    Started,
    Stop,
    StopGracefully,
    Stopped,
    Tick,
    TimedOut,
    Unobserved,
    Wanted,
    Wish,
)

__all__ = [
    "Attempt",
    "Command",
    "Event",
    "Execution",
    "ExecutionRules",
    "Failed",
    "Kill",
    "Observe",
    "Observed",
    "Order",
    "Phase",
    "Refuse",
    "Remember",
    "ScaleTo",
    "Scaled",
    "Start",
    "Started",
    "Stop",
    "StopGracefully",
    "Stopped",
    "Tick",
    "TimedOut",
    "Unobserved",
    "Wanted",
    "Wish",
    "step",
]
