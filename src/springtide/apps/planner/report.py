"""The report of a plan: a documented, versioned type that every output format is rendered from.

`PlanReport` is public: its JSON form is `apiVersion: springtide.io/v1alpha1, kind: Plan`, described
in `docs/plan.md` and by the generated schema. Sentences are made here once, so that the table, the
JSON and whatever else say the same words.
"""

from typing import Literal

import msgspec

API_VERSION = "springtide.io/v1alpha1"


class FittingPod(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A pending pod that fits an existing node as it is."""

    pod: str
    node: str


class NodeReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One node to add, under a made-up name, with the pods that would run on it."""

    name: str
    pods: tuple[str, ...]


class ReasonReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A reason in the words of the rule that gave it, how many it concerns, and the numbers."""

    rule: str
    reason: str
    count: int
    detail: str = ""


class GroupReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One node group: its size before and after, and why.

    `nodes` are the nodes to add. `why` says why the group was chosen, or, if it does not grow, why
    not, as a sentence part; `objections` count the pods that it refuses, by reason.
    """

    name: str
    size_before: int
    size_after: int
    min_size: int
    max_size: int
    why: str
    nodes: tuple[NodeReport, ...] = ()
    objections: tuple[ReasonReport, ...] = ()


class GroupVerdict(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Why one group does not take a pod."""

    group: str
    reason: str
    detail: str = ""


class QuotaReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A resource of which a namespace has too little left for one more pod.

    `limit` is as the quota states it and `enough` the smallest that would do; `used` and `asked` are in
    the unit in which devices are counted.
    """

    namespace: str
    resource: str
    limit: int
    used: int
    asked: int
    enough: int


class StuckReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Equal pods that the plan does not help.

    `message` is kube-scheduler's sentence about the existing nodes, `autoscaler_message` Cluster
    Autoscaler's about the groups (empty without groups), `closest` the group that comes nearest with
    its reason, `groups` all of them. `remedy` says what to change where no node could help; then
    there is no closest group. `quota` is what the quota of their namespace lacks, if it is that.
    """

    pods: tuple[str, ...]
    message: str
    autoscaler_message: str = ""
    closest: GroupVerdict | None
    groups: tuple[GroupVerdict, ...]
    remedy: str = ""
    quota: tuple[QuotaReport, ...] = ()


class TaskReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A task of a gang: how many of its pods must run, and how many would."""

    name: str
    minimum: int
    running: int


class GangReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Pods that start together or not at all.

    `running` counts those that run after the plan if it `is_met`; otherwise none of `pods` is planned
    for, `running` is how many would run beside everything else, and `short_by` how many more must.
    `standing` of them have their places already. `why` says it in words, `message` is
    kube-scheduler's sentence about the existing nodes for the next pod that the gang needs, and
    `closest` the group that comes nearest to taking it; where this one would do but for a limit,
    `nodes_needed` and `nodes_allowed` count its new nodes. `remedy` says what to change where no node
    could help; then there is no closest group.
    """

    gang: str
    api: str
    minimum: int
    running: int
    standing: int
    is_met: bool
    short_by: int
    why: str
    pods: tuple[str, ...]
    tasks: tuple[TaskReport, ...] = ()
    message: str = ""
    closest: GroupVerdict | None = None
    nodes_needed: int = 0
    nodes_allowed: int = 0
    remedy: str = ""


class GangPlaces(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A gang placed alone on the nodes that are there: how many of its pods would run.

    If it is `short_by` any, none of its pods is started.
    """

    name: str
    minimum: int
    running: int
    short_by: int


class ApartPod(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A pod without a node that no node would help, and what it waits for."""

    pod: str
    reason: str


class NotEvaluated(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A pod field that takes part in scheduling but was not looked at, and how many pods use it.

    `rule` is the scheduler's plugin that reads the field. If `is_required` the scheduler may refuse
    a node that the plan counts on; if not, it only orders the nodes that would do.
    """

    field: str
    rule: str
    is_required: bool
    pods: int


class ExtenderReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A scheduler extender that has a say in pods of the plan, and how it was heard.

    `Called` ones were asked, `calls` times; `failures` counts the questions that went wrong, and
    `unanswered` those of them to which it gave no usable answer at all; `error` is the first of them.
    `Assumed` ones are taken to agree, and for `Simulated` ones Springtide's own rules answer.
    """

    extender: str
    treatment: Literal["Called", "Assumed", "Simulated"]
    is_ignorable: bool = False
    calls: int = 0
    failures: int = 0
    unanswered: int = 0
    error: str = ""

    @property
    def is_missing(self) -> bool:
        """Return whether it had to agree and gave no usable answer, so that the plan is not whole."""
        return bool(self.unanswered) and not self.is_ignorable


class ProblemReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something in the input that was left out or closed, and what to do about it."""

    source: str
    object: str
    field: str
    message: str


class InputReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was read: objects by kind, and pods and nodes that took part.

    `notes` are sentences about what was left out on purpose.
    """

    objects: int
    kinds: dict[str, int]
    nodes: int
    pods: int
    skipped: int
    notes: tuple[str, ...] = ()


class PlanReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole answer. `is_satisfied`: every pending pod can run after the plan."""

    api_version: Literal["springtide.io/v1alpha1"] = "springtide.io/v1alpha1"
    kind: Literal["Plan"] = "Plan"
    summary: str
    is_satisfied: bool
    pending: int
    fitting: tuple[FittingPod, ...]
    groups: tuple[GroupReport, ...]
    gangs: tuple[GangReport, ...] = ()
    stuck: tuple[StuckReport, ...]
    apart: tuple[ApartPod, ...]
    not_evaluated: tuple[NotEvaluated, ...]
    extenders: tuple[ExtenderReport, ...] = ()
    problems: tuple[ProblemReport, ...]
    input: InputReport
