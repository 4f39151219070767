"""The scheduler extender protocol (`k8s.io/kube-scheduler/extender/v1`), both sides.

Who calls uses `objects` (which pods and nodes are sent), `request` (joins them to a filter call) and
`answer` (reads what comes back). Who is called uses `arguments` (reads a call) and `result` (writes the
answer). `shapes` tells documents of an API what the bodies look like. Keys are written as Go names them
(`Pod`, `Nodes`, `NodeNames`) and read in any case.
"""

from springtide.wire.extender.answer import Answer, MalformedAnswer, read_answer
from springtide.wire.extender.arguments import (
    BindingArguments,
    Candidates,
    MalformedArguments,
    candidates_in_steps,
    read_binding,
    read_candidates,
)
from springtide.wire.extender.objects import (
    appearance,
    node_object,
    pod_object,
    template_object,
)
from springtide.wire.extender.request import request_with_names, request_with_nodes
from springtide.wire.extender.result import (
    SCORE_MAX,
    binding_result,
    failed_nodes,
    filter_error,
    kept_names,
    kept_nodes,
    priorities,
)

__all__ = [
    "SCORE_MAX",
    "Answer",
    "BindingArguments",
    "Candidates",
    "MalformedAnswer",
    "MalformedArguments",
    "appearance",
    "binding_result",
    "candidates_in_steps",
    "failed_nodes",
    "filter_error",
    "kept_names",
    "kept_nodes",
    "node_object",
    "pod_object",
    "priorities",
    "read_answer",
    "read_binding",
    "read_candidates",
    "request_with_names",
    "request_with_nodes",
    "template_object",
]
