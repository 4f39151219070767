"""What sessions and estimates answer: the bodies of answers under `/v1`.

Times are RFC 3339 in UTC. Annotations are those that the live scheduler would write on the pod.
"""

from collections.abc import Mapping

import msgspec

from springtide.wire.simulation.result import CONTRACT

Annotations = Mapping[str, str]


class _Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A part of an answer; all fields are always there."""


class SessionAnswer(_Answer, frozen=True, kw_only=True):
    """A session as it is after the call: every answer to a change begins with this."""

    id: str
    revision: int
    expires_at: str
    nodes: int
    pods: int
    forks: int
    contract: str = CONTRACT


class Refused(_Answer, frozen=True, kw_only=True):
    """Nodes that refuse a pod for one reason; evicting pods cannot help the unresolvable."""

    reason: str
    unresolvable: bool
    nodes: tuple[str, ...]


class PodEvaluation(_Answer, frozen=True, kw_only=True):
    """Which nodes take one pod: every node that was asked is in it once.

    `allocations` are by node, of all that fit if they were asked for.
    """

    pod: str
    uid: str
    feasible: tuple[str, ...]
    refused: tuple[Refused, ...]
    allocations: Mapping[str, Annotations] = {}


class EvaluationAnswer(_Answer, frozen=True, kw_only=True):
    """What the nodes of a session say at its present revision, pod by pod in the order of the call."""

    id: str
    revision: int
    expires_at: str
    evaluations: tuple[PodEvaluation, ...]


class PlaceResult(_Answer, frozen=True, kw_only=True):
    """What became of one pod: its annotations if it was placed, else the reason."""

    uid: str
    node: str
    placed: bool
    allocations: Annotations = {}
    reason: str = ""
    unresolvable: bool = False


class PlaceAnswer(SessionAnswer, frozen=True, kw_only=True):
    """What became of every pod, in the order of the call."""

    results: tuple[PlaceResult, ...]


class PlacedPod(_Answer, frozen=True, kw_only=True):
    """A pod that stands on a node of a session."""

    namespace: str
    name: str
    uid: str
    node: str
    allocations: Annotations


class RemoveAnswer(SessionAnswer, frozen=True, kw_only=True):
    """The pods that were taken away, with what they held."""

    removed: tuple[PlacedPod, ...]


class NodeContent(_Answer, frozen=True, kw_only=True):
    """A node of a session with the pods on it, in the order in which they were placed."""

    name: str
    pods: tuple[PlacedPod, ...]


class SessionContent(SessionAnswer, frozen=True, kw_only=True):
    """What is placed where."""

    content: tuple[NodeContent, ...]


class GroupShare(_Answer, frozen=True, kw_only=True):
    """How many pods of a group, by its place in the call."""

    group: int
    pods: int


class NodeLoad(_Answer, frozen=True, kw_only=True):
    """Nodes with the same pods on them."""

    nodes: int
    pods: tuple[GroupShare, ...]


class LeftOver(_Answer, frozen=True, kw_only=True):
    """Pods of a group that no node of the template takes, or for which no further node is permitted."""

    group: int
    pods: int
    reason: str
    unresolvable: bool


class TemplateEstimate(_Answer, frozen=True, kw_only=True):
    """What the pods need of one template.

    `loads` adds up to all nodes, in the order in which they are added; `limited` says that pods are left
    because no further node is permitted.
    """

    template: str
    nodes: int
    pods: int
    loads: tuple[NodeLoad, ...]
    left: tuple[LeftOver, ...]
    limited: bool


class EstimateAnswer(_Answer, frozen=True, kw_only=True):
    """What the pods need of each template by itself; `nowhere` are the groups that no template takes."""

    estimates: tuple[TemplateEstimate, ...]
    nowhere: tuple[int, ...]
    contract: str = CONTRACT


class Problem(_Answer, frozen=True, kw_only=True):
    """Why a call could not be answered (RFC 9457); nothing was changed.

    `revision` is that of the session where the call was for another one, `field` the part of the body that
    is wrong.
    """

    type: str
    title: str
    status: int
    detail: str
    field: str = ""
    revision: int | None = None


ANSWERS: Mapping[str, type[msgspec.Struct]] = {
    "open": SessionAnswer,
    "evaluate": EvaluationAnswer,
    "place": PlaceAnswer,
    "remove": RemoveAnswer,
    "addNodes": SessionAnswer,
    "removeNodes": RemoveAnswer,
    "fork": SessionAnswer,
    "revert": SessionAnswer,
    "commit": SessionAnswer,
    "get": SessionContent,
    "estimate": EstimateAnswer,
}
"""Every answer, by the name of its call."""
