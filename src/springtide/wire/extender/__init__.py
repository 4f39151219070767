"""The scheduler extender protocol (`k8s.io/kube-scheduler/extender/v1`), the caller's side.

`objects` says which pods and nodes are sent, `request` joins them to a filter call, `answer` reads
what comes back. Keys are written as Go names them (`Pod`, `Nodes`, `NodeNames`) and read in any case.
"""

from springtide.wire.extender.answer import Answer, MalformedAnswer, read_answer
from springtide.wire.extender.objects import (
    appearance,
    node_object,
    pod_object,
    template_object,
)
from springtide.wire.extender.request import request_with_names, request_with_nodes

__all__ = [
    "Answer",
    "MalformedAnswer",
    "appearance",
    "node_object",
    "pod_object",
    "read_answer",
    "request_with_names",
    "request_with_nodes",
    "template_object",
]
