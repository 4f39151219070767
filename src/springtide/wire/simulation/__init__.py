"""The formats of the simulation service (simulation contract, v1).

`arguments` and `result` are a filter call without state, `standing` the pods that a node carries with it;
`calls` and `answers` are those of sessions and estimates.
"""

from springtide.wire.simulation.arguments import (
    Call,
    InvalidCall,
    MalformedCall,
    read_call,
    read_node,
    read_pod,
)
from springtide.wire.simulation.calls import InvalidBody, read_body
from springtide.wire.simulation.result import (
    CONTRACT,
    Annotated,
    ErrorClass,
    simulation_error,
    simulation_result,
)
from springtide.wire.simulation.standing import StandingPod, read_standing

__all__ = [
    "CONTRACT",
    "Annotated",
    "Call",
    "ErrorClass",
    "InvalidBody",
    "InvalidCall",
    "MalformedCall",
    "StandingPod",
    "read_body",
    "read_call",
    "read_node",
    "read_pod",
    "read_standing",
    "simulation_error",
    "simulation_result",
]
