"""Gangs in the report: who gets enough places, who is short by how many, and what is in the way."""

from collections.abc import Sequence
from typing import Final

from springtide.apps.planner.report import GangReport, GroupVerdict, TaskReport
from springtide.apps.planner.words import counted, fit, joined
from springtide.apps.planner.words import with_detail as told
from springtide.engine.capacity.explain import LIMIT
from springtide.engine.capacity.situation import GangAnswer
from springtide.engine.gang.tally import Tally
from springtide.model.gang import Gang

NAMED_MAX: Final = 3


def gang_report(answer: GangAnswer, *, remedy: str = "") -> GangReport:
    """Return what is said of one gang; `remedy` is what to change where no node could help."""
    gang, tally, obstacle = answer.gang, answer.tally, answer.obstacle
    closest = None
    if obstacle is not None and obstacle.closest and not remedy:
        refusal = dict(obstacle.on_groups)[obstacle.closest]
        closest = GroupVerdict(group=obstacle.closest, reason=refusal.text, detail=refusal.detail)
    return GangReport(
        gang=gang.key,
        api=gang.api,
        minimum=gang.minimum,
        running=tally.running,
        standing=gang.standing,
        is_met=answer.is_met,
        short_by=tally.missing,
        why=_why_met(answer) if answer.is_met else _why_short(answer, remedy),
        pods=tuple(pod.key for pod in gang.pods),
        tasks=tuple(
            TaskReport(name=task.name, minimum=task.minimum, running=task.running)
            for task in tally.tasks
        ),
        message="" if obstacle is None else obstacle.message,
        closest=closest,
        nodes_needed=answer.nodes_needed,
        nodes_allowed=answer.nodes_allowed,
        remedy=remedy,
    )


def held_back(answers: Sequence[GangAnswer]) -> list[str]:
    """Return the sentence about gangs for which nothing is planned, if there are any."""
    short = [answer for answer in answers if not answer.is_met]
    if not short:
        return []
    named = [f"{each.gang.key} is short by {each.tally.missing}" for each in short[:NAMED_MAX]]
    others = len(short) - len(named)
    if others:
        named.append(
            f"{counted(others, 'other gang')} {'falls' if others == 1 else 'fall'} short too"
        )
    pods = counted(sum(len(answer.gang.waiting) for answer in short), "pod")
    which, whose = ("The gang", "its") if len(short) == 1 else ("Of the gangs,", "their")
    return [f"{which} {joined(named)}, so that nothing is planned for {whose} {pods}."]


def limited_by(answers: Sequence[GangAnswer], name: str) -> str:
    """Return how a limit of the group keeps a gang from its places, empty if it does not."""
    for answer in answers:
        if answer.obstacle is None:
            continue
        refusal = dict(answer.obstacle.on_groups).get(name)
        if refusal is None or refusal.rule != LIMIT:
            continue
        if answer.nodes_needed and answer.obstacle.closest == name:
            return f"would help the gang {answer.gang.key}, but {_nodes(answer)}: {refusal.text}"
        return f"would help the gang {answer.gang.key}, but not enough: {told(refusal)}"
    return ""


def _why_met(answer: GangAnswer) -> str:
    waiting = len(answer.gang.waiting) + answer.gang.standing - answer.tally.running
    more = f"; {counted(waiting, 'further pod')} {fit(waiting)} nowhere" if waiting else ""
    return f"has enough places{more}"


def _why_short(answer: GangAnswer, remedy: str) -> str:
    parts = [f"short by {answer.tally.missing}", *_tasks(answer.tally)]
    if remedy:
        return f"{'; '.join(parts)}. {remedy}"
    obstacle = _too_few(answer.gang) if answer.obstacle is None else _in_the_way(answer)
    return "; ".join([*parts, obstacle])


def _too_few(gang: Gang) -> str:
    there = counted(len(gang.waiting) + gang.standing, "pod")
    waits = "waits" if gang.apart == 1 else "wait"
    apart = f"; {counted(gang.apart, 'pod')} {waits} for something else" if gang.apart else ""
    return f"only {there} can be planned for{apart}"


def _in_the_way(answer: GangAnswer) -> str:
    assert answer.obstacle is not None
    closest = answer.obstacle.closest
    if not closest:
        return f"the next pod fits nowhere: {answer.obstacle.message.rstrip('.')}"
    nodes = f", {_nodes(answer)}" if answer.nodes_needed else ""
    return f"closest is {closest}{nodes}: {told(dict(answer.obstacle.on_groups)[closest])}"


def _nodes(answer: GangAnswer) -> str:
    needed = counted(answer.nodes_needed, "new node")
    return f"{needed} needed, {answer.nodes_allowed or 'none'} allowed"


def _tasks(tally: Tally) -> list[str]:
    return [
        f"task {task.name} has {task.running} of {task.minimum}"
        for task in tally.tasks
        if task.missing
    ]
