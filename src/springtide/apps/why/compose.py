"""From what the engine found to the report: the chain of sentences that people and programs read.

Sentences say "it", so that equal pods share them; whoever prints names the pods before.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from springtide.apps.planner.gang_places import sentence as sentence_of
from springtide.apps.planner.report import GangPlaces, GroupVerdict
from springtide.apps.planner.stage import Stage
from springtide.apps.why.asked import Asked
from springtide.apps.why.report import (
    ChangeReport,
    DeviceReport,
    NodeDevices,
    NodesVerdict,
    PodWhy,
    State,
)
from springtide.engine.explain import Change, Explained
from springtide.engine.explain.explanation import Alike, sentence
from springtide.engine.explain.verdicts import DeviceVerdict, devices_on
from springtide.engine.explain.words import count, joined, memory
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.tables import Tables
from springtide.model.device import Allocation
from springtide.model.pod import Pod

NO_CHANGE: Final = "None of the changes that were tried helps alone."
REASONS_MAX: Final = 3
NODES_MAX: Final = 3
_NOWHERE: Final = {
    0: "It fits nowhere: there is no node.",
    1: "It does not fit on the only node.",
    2: "It fits on neither of the 2 nodes.",
}


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """The answer for all pods of a class that do the same."""

    fits: bool
    nodes: int
    names: tuple[str, ...]
    verdicts: tuple[NodesVerdict, ...]
    changes: tuple[ChangeReport, ...]
    groups: tuple[GroupVerdict, ...]
    message: str
    remedy: str

    def about(self, who: Asked, gang: GangPlaces | None) -> PodWhy:
        """Return the answer for one of them; the gang is its own, if it is in one."""
        of_gang = [] if gang is None else [sentence_of(gang)]
        answer = " ".join([*_state(who), self._answer(who.state), *of_gang])
        is_held = who.state is State.GATED or (gang is not None and gang.short_by > 0)
        return PodWhy(
            pods=(who.pod.key,),
            state=who.state,
            fits=self.fits and not is_held,
            node=who.node,
            answer=answer,
            chain=" ".join([answer, *self._because(), *self._helps()]),
            message=self.message,
            last_message=who.pod.scheduled_message,
            verdicts=self.verdicts,
            changes=self.changes,
            groups=self.groups,
            remedy=self.remedy,
            gang=gang,
        )

    def _answer(self, state: State) -> str:
        if not self.fits:
            return _NOWHERE.get(self.nodes, f"It fits on none of the {self.nodes} nodes.")
        would = "Without them it would fit" if state is State.GATED else "It fits"
        which = joined(list(self.names[:NODES_MAX]), most=NODES_MAX)
        more = len(self.names) - NODES_MAX
        rest = f" and {more} more" if more > 0 else ""
        return f"{would} on {len(self.names)} of {count(self.nodes, 'node')}: {which}{rest}."

    def _because(self) -> Iterator[str]:
        if self.fits:
            return
        shown = self.verdicts[:REASONS_MAX]
        for each in shown:
            where = _where(each.nodes, self.nodes)
            yield f"On {where}: {each.sentence or each.reason}."
        left = len(self.verdicts) - len(shown)
        if left > 0:
            yield f"There {'is 1 other reason' if left == 1 else f'are {left} other reasons'}."

    def _helps(self) -> Iterator[str]:
        if self.remedy:
            yield self.remedy
        elif self.changes:
            smallest = self.changes[0]
            yield f"Smallest change: {smallest.text}; then {smallest.node} takes it."
        elif not self.fits and self.nodes:
            yield NO_CHANGE


def _where(nodes: Sequence[str], total: int) -> str:
    if len(nodes) == 1:
        return f"node {nodes[0]}"
    return f"all {total} nodes" if len(nodes) == total else f"{len(nodes)} nodes"


def _state(who: Asked) -> Iterator[str]:
    if who.state is State.GATED or who.state is State.NOMINATED:
        yield f"It {who.reason}."


def at_rest(who: Asked, stage: Stage, *, is_well: bool) -> PodWhy:
    """Return the answer for a pod that is not held against nodes."""
    match who.state:
        case State.RUNNING:
            answer = f"It is on node {who.node}{_held(who.pod, stage)}."
        case State.FINISHED:
            where = f" on node {who.node}" if who.node else ""
            answer = f"It has finished{where} ({who.pod.phase}), and holds nothing any more."
        case _:
            answer = f"It {who.reason}."
    return PodWhy(
        pods=(who.pod.key,),
        state=who.state,
        fits=is_well,
        node=who.node,
        answer=answer,
        chain=answer,
    )


def _held(pod: Pod, stage: Stage) -> str:
    """Return which devices a pod holds, by what is written on it."""
    parts = [
        part
        for family in stage.families.values()
        if isinstance(answer := family.decode(pod), Allocation)
        for part in _grants(answer)
    ]
    return f", with {joined(parts, most=8)}" if parts else ""


def _grants(allocation: Allocation) -> Iterator[str]:
    for grants in allocation.containers:
        for grant in grants:
            cores = f" and {grant.cores} cores" if grant.cores else ""
            yield f"{memory(grant.memory_mib)}{cores} of {grant.device_id}"


def told(
    pod: Pod, found: Explained, *, tables: Tables, message: str, remedy: str, tells_all_nodes: bool
) -> Told:
    """Return what the engine found as the report has it, but for the pods' names."""
    names = tables.ledger.names
    fitting = next((each.rows for each in found.verdicts if each.refusal is None), ())
    shown = found.verdicts
    if tells_all_nodes:
        shown = tuple(_by_node(pod, found, tables))
    return Told(
        fits=found.fits,
        nodes=tables.ledger.count,
        names=tuple(names[row] for row in fitting),
        verdicts=tuple(
            _verdict(each, found.pod_class, tables, has_devices=tells_all_nodes) for each in shown
        ),
        changes=tuple(map(_change, found.changes)),
        groups=tuple(
            GroupVerdict(
                group=each.group.group.name,
                reason=each.refusal.text,
                detail=each.refusal.detail,
            )
            for each in found.groups
            if each.refusal is not None
        ),
        message=message,
        remedy=remedy,
    )


def _by_node(pod: Pod, found: Explained, tables: Tables) -> Iterator[Alike]:
    """Yield the verdict of every node by itself, with its own numbers, in the order of the input."""
    refusals = {row: each.refusal for each in found.verdicts for row in each.rows}
    for row in sorted(refusals):
        refusal = refusals[row]
        if refusal is None:
            yield Alike(rows=(row,), refusal=None)
        else:
            own = sentence(pod, found.pod_class, refusal, [row], tables=tables)
            yield Alike(rows=(row,), refusal=refusal, sentence=own)


def _verdict(
    alike: Alike, pod_class: PodClass, tables: Tables, *, has_devices: bool
) -> NodesVerdict:
    names, rows, refusal = tables.ledger.names, alike.rows, alike.refusal
    return NodesVerdict(
        nodes=tuple(names[row] for row in rows),
        fits=refusal is None,
        rule="" if refusal is None else refusal.rule,
        reason="" if refusal is None else refusal.text,
        sentence=alike.sentence,
        devices=tuple(_devices(rows, pod_class, tables)) if has_devices else (),
    )


def _devices(rows: Sequence[int], pod_class: PodClass, tables: Tables) -> Iterator[NodeDevices]:
    for row in rows:
        found = tuple(map(_device, devices_on(tables, pod_class, row)))
        if found:
            yield NodeDevices(node=tables.ledger.names[row], devices=found)


def _device(verdict: DeviceVerdict) -> DeviceReport:
    device, use = verdict.device, verdict.use
    return DeviceReport(
        family=verdict.family,
        id=device.id,
        type=device.type,
        reason=verdict.reason,
        memory_free=device.memory_mib - use.memory_mib,
        memory=device.memory_mib,
        cores_free=device.cores - use.cores,
        cores=device.cores,
        slots_free=device.slots - use.slots,
        slots=device.slots,
    )


def _change(change: Change) -> ChangeReport:
    return ChangeReport(
        kind=change.kind,
        text=change.text,
        subject=change.subject,
        before=change.before,
        after=change.after,
        node=change.node,
        pods=tuple(pod.key for pod in change.pods),
    )
