"""From runs to the report: per policy what it comes to, and per pod how two policies differ."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from springtide.apps.planner.compose import not_evaluated, problem_reports
from springtide.apps.planner.report import ApartPod, InputReport
from springtide.apps.replay.report import (
    ChangesReport,
    DecisionReport,
    DevicesOn,
    DifferenceReport,
    FamilyReport,
    ReasonPods,
    ReplayReport,
    RunReport,
)
from springtide.apps.replay.runs import Run
from springtide.apps.replay.words import summary
from springtide.engine.replay import Change, Fragments, change
from springtide.model.pod import Pod
from springtide.model.problem import Problem

DIGITS: Final = 4


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What is said around the runs: pods that could not come, problems, and what was read."""

    apart: Sequence[tuple[Pod, str]]
    problems: Sequence[Problem]
    read: InputReport


def compose(pods: Sequence[Pod], runs: Sequence[Run], told: Told) -> ReplayReport:
    """Return the report; the first two runs are compared."""
    first, second = runs[:2]
    differences = tuple(_differences(pods, runs))
    changes = _changes(differences)
    reports = tuple(_run(run, _emptied(run, first, second)) for run in runs)
    return ReplayReport(
        summary=summary(reports, changes, differences, pods=len(pods)),
        is_same=not differences,
        policy=first.name,
        against=second.name,
        pods=len(pods),
        runs=reports,
        changes=changes,
        differences=differences,
        apart=tuple(ApartPod(pod=pod.key, reason=reason) for pod, reason in told.apart),
        not_evaluated=not_evaluated(pods),
        problems=problem_reports(told.problems),
        input=told.read,
    )


# Runs


def _run(run: Run, emptied: tuple[str, ...]) -> RunReport:
    placed = sum(each.is_placed for each in run.fates)
    reasons = Counter(limits[0].reason for limits in run.limits.values())
    return RunReport(
        policy=run.name,
        placed=placed,
        refused=len(run.fates) - placed,
        reasons=tuple(
            ReasonPods(reason=reason, pods=count)
            for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        ),
        nodes_in_use=len(run.used),
        emptied=emptied,
        families=tuple(_families(run)),
    )


def _emptied(run: Run, first: Run, second: Run) -> tuple[str, ...]:
    others = {first.name: second, second.name: first}.get(run.name)
    if others is None:
        return ()
    return tuple(sorted(run.names[row] for row in others.used - run.used))


def _families(run: Run) -> Iterator[FamilyReport]:
    by_family = {each.family: each for each in run.fragments}
    for use in run.devices:
        none = Fragments(family=use.family, free_mib=0, unusable_mib=0.0)
        found = by_family.get(use.family, none)
        yield FamilyReport(
            family=use.family,
            devices=use.devices,
            in_use=use.in_use,
            memory_mib=use.memory_mib,
            memory_used_mib=use.memory_used_mib,
            cores=use.cores,
            cores_used=use.cores_used,
            free_mib=found.free_mib,
            unusable_mib=round(found.unusable_mib),
            fragmentation=round(found.unusable_mib / max(found.free_mib, 1), DIGITS),
        )


# Pods


def _differences(pods: Sequence[Pod], runs: Sequence[Run]) -> Iterator[DifferenceReport]:
    first, second = runs[:2]
    for number, (one, other) in enumerate(zip(first.fates, second.fates, strict=True)):
        found = change(one, other)
        if found is not None:
            pod = pods[number]
            yield DifferenceReport(
                pod=pod.key,
                order=number + 1,
                created=pod.created,
                change=found.value,
                decisions=tuple(_decision(number, run) for run in runs),
            )


def _decision(number: int, run: Run) -> DecisionReport:
    fate = run.fates[number]
    if not fate.is_placed:
        limits = run.limits[number]
        return DecisionReport(policy=run.name, reason=limits[0].reason, refusals=limits)
    return DecisionReport(
        policy=run.name,
        node=run.names[fate.row],
        devices=tuple(
            DevicesOn(family=family, positions=positions) for family, positions in fate.devices
        ),
    )


def _changes(differences: Sequence[DifferenceReport]) -> ChangesReport:
    counts = Counter(each.change for each in differences)
    return ChangesReport(
        placed=counts[Change.PLACED.value],
        refused=counts[Change.REFUSED.value],
        node=counts[Change.NODE.value],
        devices=counts[Change.DEVICES.value],
    )
