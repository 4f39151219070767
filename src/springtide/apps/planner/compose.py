"""From the engine's plan to the report: the sentences and counts that people and programs read."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from springtide.apps.planner.gang_report import gang_report, held_back, limited_by
from springtide.apps.planner.picture import Picture
from springtide.apps.planner.report import (
    ApartPod,
    ExtenderReport,
    FittingPod,
    GangReport,
    GroupReport,
    GroupVerdict,
    InputReport,
    NodeReport,
    NotEvaluated,
    PlanReport,
    ProblemReport,
    QuotaReport,
    ReasonReport,
    StuckReport,
)
from springtide.apps.planner.words import are, counted, fit, joined, with_detail
from springtide.engine.capacity.events import not_triggered
from springtide.engine.capacity.explain import Stuck
from springtide.engine.capacity.situation import Plan, SizedGroup, Step
from springtide.engine.placement.quota import Shortage
from springtide.model.pod import Pod
from springtide.model.problem import Problem
from springtide.model.refusal import Refusal

OBJECTIONS_MAX: Final = 3
# How the engine begins the reason of a group that lost only by its place in the input.
EQUAL: Final = "as good as "

# Pod fields that no rule here reads yet, to kube-scheduler's plugin that does.
_RULES: Final = {
    "topologySpreadConstraints.preferred": "PodTopologySpread",
    "affinity.preferred": "NodeAffinity, InterPodAffinity",
    "volumes.persistentVolumeClaim": "VolumeBinding",
    "volumes.disk": "NodeVolumeLimits",
    "resourceClaims": "DynamicResources",
}


def compose(
    plan: Plan,
    picture: Picture,
    *,
    read: InputReport,
    problems: Sequence[Problem],
    remedies: Mapping[int, str] = MappingProxyType({}),
    extenders: tuple[ExtenderReport, ...] = (),
) -> PlanReport:
    """Return the report of a plan; `remedies` are by the place among the plan's obstacles."""
    told = [_stuck(item, remedies.get(index, "")) for index, item in enumerate(plan.stuck)]
    stuck = _merged(told)
    return PlanReport(
        summary=" ".join(
            [
                summary(plan, len(picture.waiting)),
                *held_back(plan.gangs),
                *_beyond_nodes(stuck, len(picture.waiting)),
            ]
        ),
        is_satisfied=not stuck and not picture.denied and all(each.is_met for each in plan.gangs),
        pending=len(picture.waiting),
        fitting=tuple(FittingPod(pod=pod.key, node=node) for pod, node in plan.fitting),
        groups=tuple(_group(item, plan) for item in picture.groups),
        gangs=tuple(_gangs(plan, remedies)),
        stuck=stuck,
        apart=tuple(
            ApartPod(pod=pod.key, reason=reason)
            for pod, reason in (*picture.apart, *picture.denied)
        ),
        not_evaluated=not_evaluated(picture.waiting),
        extenders=extenders,
        problems=problem_reports(problems),
        input=read,
    )


def problem_reports(problems: Iterable[Problem]) -> tuple[ProblemReport, ...]:
    """Return the problems of the input as the answer has them."""
    return tuple(
        ProblemReport(
            source=item.source, object=item.object, field=item.field, message=item.message
        )
        for item in problems
    )


def summary(plan: Plan, pending: int) -> str:
    """Return the answer in a few sentences."""
    if not pending:
        return " ".join(["No pod is waiting for a node.", *_raising(plan.steps)])
    parts = [f"{are(pending, 'pod')} pending."]
    if plan.fitting:
        parts.append(
            f"{counted(len(plan.fitting), 'pod')} already {fit(len(plan.fitting))} the nodes that are there."
        )
    grown = _grown(step for step in plan.steps if not step.is_raise or step.nodes)
    helped = sum(len(node.pods) for step in plan.steps for node in step.nodes)
    left = sum(len(item.pods) for item in plan.stuck)
    if grown:
        rest = f"; {left} {fit(left)} nowhere." if left else "."
        parts.append(f"Adding {_adding(grown)} lets {_whom(helped, pending)} run{rest}")
    elif left:
        parts.append(_no_help(left, pending, has_groups=bool(plan.sizes)))
    return " ".join([*parts, *_raising(plan.steps)])


def _raising(steps: Iterable[Step]) -> list[str]:
    """Return the sentence about nodes that no pod needs but the group's minimum size asks for."""
    grown = _grown(step for step in steps if step.is_raise and not step.nodes)
    if not grown:
        return []
    size = "its minimum size" if len(grown) == 1 else "their minimum sizes"
    return [f"Adding {_adding(grown)} is only for {size}."]


def _grown(steps: Iterable[Step]) -> dict[str, int]:
    grown: dict[str, int] = {}
    for step in steps:
        grown[step.group.name] = grown.get(step.group.name, 0) + step.size_after - step.size_before
    return grown


def _adding(grown: Mapping[str, int]) -> str:
    return joined([f"{counted(count, 'node')} to {name}" for name, count in grown.items()])


def _beyond_nodes(stuck: Iterable[StuckReport], pending: int) -> list[str]:
    """Return for what some pods wait that is not another node, if there are any."""
    counts: Counter[str] = Counter()
    for item in stuck:
        if item.remedy:
            counts[_awaited(item)] += len(item.pods)
    return [f"{_who(count, pending)} for {what}, not for a node." for what, count in counts.items()]


def _awaited(item: StuckReport) -> str:
    namespaces = {each.namespace for each in item.quota}
    if not namespaces:
        return "a change of the scheduler's configuration"
    return f"a larger quota of namespace {namespaces.pop()}"


def _who(count: int, pending: int) -> str:
    if count == pending:
        return {1: "It waits"}.get(count, "They wait")
    return f"{count} of them {'waits' if count == 1 else 'wait'}"


def _whom(helped: int, pending: int) -> str:
    if helped != pending:
        return f"{helped} of them"
    return {1: "it", 2: "both of them"}.get(helped, "all of them")


def _no_help(left: int, pending: int, *, has_groups: bool) -> str:
    what = "No node group helps" if has_groups else "There is no node group to grow"
    if left == pending:
        return f"{what}: {'it fits' if left == 1 else 'they fit'} nowhere."
    return f"{what}: {left} of them {fit(left)} nowhere."


def _gangs(plan: Plan, remedies: Mapping[int, str]) -> Iterator[GangReport]:
    index = len(plan.stuck)
    for answer in plan.gangs:
        if answer.obstacle is None:
            yield gang_report(answer)
        else:
            yield gang_report(answer, remedy=remedies.get(index, ""))
            index += 1


# Groups


def _group(item: SizedGroup, plan: Plan) -> GroupReport:
    name = item.group.name
    steps = [step for step in plan.steps if step.group.name == name]
    before, after = next((b, a) for group, b, a in plan.sizes if group == name)
    objections = next((found for group, found in plan.objections if group == name), ())
    short = dict(plan.short).get(name)
    return GroupReport(
        name=name,
        size_before=before,
        size_after=after,
        min_size=item.group.min_size,
        max_size=item.group.max_size,
        why=_why(steps, short) if steps else _why_not(item, plan, objections),
        nodes=tuple(_node(node.name, node.pods) for step in steps for node in step.nodes),
        objections=tuple(_reason(refusal, count) for refusal, count in objections),
    )


def _why(steps: Sequence[Step], short: Refusal | None) -> str:
    why = steps[0].why
    needed = [step for step in steps if not step.is_raise]
    spare = sum(step.size_after - step.size_before - len(step.nodes) for step in needed)
    if spare:
        why = f"{why}; {spare} more than the pods need, because {_because(needed)}"
    return why if short is None else f"{why}, but not all the way: {with_detail(short)}"


def _because(steps: Sequence[Step]) -> str:
    group = steps[0].group
    if group.is_zero_or_max:
        return f"it has either no node or all {group.max_size}"
    if steps[-1].size_after == group.min_size:
        return f"it has at least {group.min_size}"
    return "pods found room on other new nodes"


def _why_not(item: SizedGroup, plan: Plan, objections: Sequence[tuple[Refusal, int]]) -> str:
    name = item.group.name
    short = dict(plan.short).get(name)
    if short is not None:
        return f"stays below its minimum size of {item.group.min_size}: {with_detail(short)}"
    passed_over = _passed_over(name, plan.steps)
    if passed_over:
        return passed_over
    limited = next(
        (
            refusal
            for stuck in plan.stuck
            for group, refusal in stuck.on_groups
            if group == name and refusal.rule == "limit"
        ),
        None,
    )
    if limited is not None:
        return f"would help, but {with_detail(limited)}"
    of_gangs = limited_by(plan.gangs, name)
    if of_gangs or objections:
        return of_gangs or _objections(objections)
    if item.size >= item.group.max_size:
        return f"max node group size reached: {item.size} of at most {item.group.max_size} nodes"
    return "not needed"


def _passed_over(name: str, steps: Iterable[Step]) -> str:
    return next(
        (
            f"would help just as well, but {step.group.name} is named first"
            if why.startswith(EQUAL)
            else f"would help, but less well than {step.group.name} ({why})"
            for step in steps
            for other, why in step.rejected
            if other == name
        ),
        "",
    )


def _objections(objections: Sequence[tuple[Refusal, int]]) -> str:
    """Return what the group objects to, the reason that concerns the most pods first."""
    by_text: dict[str, list[tuple[Refusal, int]]] = {}
    for refusal, count in objections:
        by_text.setdefault(refusal.text, []).append((refusal, count))
    counts = {text: sum(count for _, count in found) for text, found in by_text.items()}
    ordered = sorted(by_text, key=lambda text: -counts[text])
    parts = [
        f"{counted(counts[text], 'pod')}: {_told(by_text[text])}"
        if len(ordered) > 1
        else _told(by_text[text])
        for text in ordered[:OBJECTIONS_MAX]
    ]
    left_out = len(ordered) - len(parts)
    return "; ".join([*parts, f"and {counted(left_out, 'other reason')}"] if left_out else parts)


def _told(same: Sequence[tuple[Refusal, int]]) -> str:
    """Return one reason with its numbers, of the most pods where pods differ in them."""
    refusal, _ = max(same, key=lambda item: item[1])
    if len(same) == 1 or not refusal.detail:
        return with_detail(refusal)
    return f"{refusal.text}: for example {refusal.detail}"


def _node(name: str, pods: Sequence[Pod]) -> NodeReport:
    return NodeReport(name=name, pods=tuple(pod.key for pod in pods))


def _reason(refusal: Refusal, count: int) -> ReasonReport:
    return ReasonReport(rule=refusal.rule, reason=refusal.text, count=count, detail=refusal.detail)


# Pods


def _stuck(item: Stuck, remedy: str) -> StuckReport:
    refusals = [refusal for _, refusal in item.on_groups]
    verdicts = tuple(
        GroupVerdict(group=group, reason=refusal.text, detail=refusal.detail)
        for group, refusal in item.on_groups
    )
    return StuckReport(
        pods=tuple(pod.key for pod in item.pods),
        message=item.message,
        autoscaler_message=not_triggered(refusals) if refusals else "",
        closest=None
        if remedy
        else next((verdict for verdict in verdicts if verdict.group == item.closest), None),
        groups=verdicts,
        remedy=remedy,
        quota=tuple(map(_quota, item.shortages)),
    )


def _quota(lack: Shortage) -> QuotaReport:
    return QuotaReport(
        namespace=lack.namespace,
        resource=lack.resource,
        limit=lack.stated,
        used=lack.used,
        asked=lack.asked,
        enough=lack.enough,
    )


def _merged(items: Iterable[StuckReport]) -> tuple[StuckReport, ...]:
    """Join entries that say the same of different pods."""
    found: dict[StuckReport, list[str]] = {}
    for item in items:
        found.setdefault(replace(item, pods=()), []).extend(item.pods)
    return tuple(replace(item, pods=tuple(pods)) for item, pods in found.items())


def not_evaluated(pods: Sequence[Pod]) -> tuple[NotEvaluated, ...]:
    """Return the fields of these pods that take part in scheduling but were not looked at."""
    counts = Counter(field for pod in pods for field in pod.spec.fields)
    return tuple(
        NotEvaluated(
            field=field,
            rule=_RULES.get(field, ""),
            is_required=not field.endswith(".preferred"),
            pods=count,
        )
        for field, count in sorted(counts.items())
    )
