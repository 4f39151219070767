"""The report of `springtide why`: a documented, versioned type that every format is rendered from.

`WhyReport` is public: its JSON form is `apiVersion: springtide.io/v1alpha1, kind: Why`, described in
`docs/why.md` and by the generated schema. Sentences are made here once, so that the table, the JSON
and events say the same words.
"""

from enum import StrEnum
from typing import Literal

import msgspec

from springtide.apps.planner.report import (
    ExtenderReport,
    GangPlaces,
    GroupVerdict,
    InputReport,
    NotEvaluated,
    ProblemReport,
)
from springtide.engine.explain import ChangeKind


class State(StrEnum):
    """What a pod is doing, or waits for. Public API: programs match these words."""

    RUNNING = "Running"
    WAITING = "Waiting"
    NOMINATED = "Nominated"
    GATED = "Gated"
    DELETED = "Deleted"
    FINISHED = "Finished"
    DENIED = "Denied"


class DeviceReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One device of a node, what of it is free, and the first thing that refuses it, if any does."""

    family: str
    id: str
    type: str
    reason: str
    memory_free: int = msgspec.field(name="memoryFreeMiB")
    memory: int = msgspec.field(name="memoryMiB")
    cores_free: int
    cores: int
    slots_free: int
    slots: int


class NodeDevices(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The devices of one node that the pod was held against."""

    node: str
    devices: tuple[DeviceReport, ...]


class NodesVerdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Nodes that say the same: that the pod fits, or which rule refuses it, and why.

    `reason` is in the words of the rule, `sentence` says it with numbers. `devices` are listed where
    every node is told by itself, unless a rule of the scheduler refuses it before.
    """

    nodes: tuple[str, ...]
    fits: bool
    rule: str = ""
    reason: str = ""
    sentence: str = ""
    devices: tuple[NodeDevices, ...] = ()


class ChangeReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One change that would let the pod fit, checked by the whole filter.

    `text` says it in the imperative; `subject` is what is changed, `before` and `after` are its
    values where it has any. `node` takes the pod then; `pods` are those that go.
    """

    kind: ChangeKind
    text: str
    subject: str
    before: str = ""
    after: str = ""
    node: str = ""
    pods: tuple[str, ...] = ()


class PodWhy(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One pod, or several that get the same answer.

    `answer` is the sentence, `chain` all of it in one paragraph: the answer, why, and the smallest
    change. `message` is kube-scheduler's text about the nodes, and `last_message` what the cluster's
    scheduler said last. `changes` come the smallest first. `remedy` says what to change where the
    scheduler's configuration is in the way. Of a pod in a gang that is short, `fits` is false even if
    nodes would take it.
    """

    pods: tuple[str, ...]
    state: State
    fits: bool
    node: str = ""
    answer: str
    chain: str
    message: str = ""
    last_message: str = ""
    verdicts: tuple[NodesVerdict, ...] = ()
    changes: tuple[ChangeReport, ...] = ()
    groups: tuple[GroupVerdict, ...] = ()
    remedy: str = ""
    gang: GangPlaces | None = None


class WhyReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole answer. `fits`: every pod that was asked about runs, has run, or fits a node."""

    api_version: Literal["springtide.io/v1alpha1"] = "springtide.io/v1alpha1"
    kind: Literal["Why"] = "Why"
    fits: bool
    pods: tuple[PodWhy, ...]
    not_evaluated: tuple[NotEvaluated, ...]
    extenders: tuple[ExtenderReport, ...] = ()
    problems: tuple[ProblemReport, ...]
    input: InputReport
