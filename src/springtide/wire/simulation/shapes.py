"""The bodies of a filter call as types: for documents of the API, and for clients that read answers.

Calls are not read by them, because keys come in any case and nodes go back as they were sent.
"""

from collections.abc import Mapping

from msgspec import Struct

from springtide.wire.extender.result import NodesKept
from springtide.wire.extender.shapes import NodesSent, Pod
from springtide.wire.simulation.result import CONTRACT


class SimulationArgs(Struct, frozen=True, kw_only=True, rename="pascal"):
    """A pod, and the nodes that it is asked about, as whole objects.

    Fields are spelled as Go names them, and read in any case.
    """

    pod: Pod
    nodes: NodesSent


class SimulationResult(
    Struct,
    frozen=True,
    kw_only=True,
    rename={
        "nodes": "Nodes",
        "node_names": "NodeNames",
        "failed_nodes": "FailedNodes",
        "failed_and_unresolvable_nodes": "FailedAndUnresolvableNodes",
        "error": "Error",
    },
):
    """Which nodes would take the pod, why the others would not, and what it would get where.

    With a text in Error, the call as a whole was not answered. `allocations` are by node the annotations
    that the live scheduler would write.
    """

    nodes: NodesKept | None = None
    node_names: list[str] | None = None
    failed_nodes: Mapping[str, str] | None = None
    failed_and_unresolvable_nodes: Mapping[str, str] | None = None
    error: str = ""
    allocations: Mapping[str, Mapping[str, str]] = {}
    contract: str = CONTRACT
