"""The calls that change a session, and those that look at it: records of the wire to steps of the engine."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from springtide.apps.sessions.reading import Reading
from springtide.apps.sessions.replies import NOTHING, Tally
from springtide.engine.simulation.placements import Placed
from springtide.engine.simulation.session import Session
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.wire.simulation import calls
from springtide.wire.simulation.answers import (
    NodeContent,
    PlaceAnswer,
    PlacedPod,
    PlaceResult,
    PodEvaluation,
    Refused,
    RemoveAnswer,
    SessionAnswer,
)

VERBS: Final[Mapping[str, type[calls.Change]]] = {
    "place": calls.Place,
    "remove": calls.Remove,
    "addNodes": calls.AddNodes,
    "removeNodes": calls.RemoveNodes,
    "fork": calls.Change,
    "revert": calls.Change,
    "commit": calls.Change,
}
"""Every call that changes a session."""

NOT_ALL_FIT: Final = "not placed, because another pod of the call does not fit"


class Changed(msgspec.Struct, frozen=True):
    """What a change is answered beside the state of the session."""

    kind: type[SessionAnswer] = SessionAnswer
    fields: Mapping[str, Any] = {}


def changed(
    session: Session,
    verb: str,
    call: calls.Change,
    reading: Reading,
    make_room: Callable[[int], None],
) -> Changed:
    """Make a change, and return what to answer. If it raises, nothing has happened."""
    match call:
        case calls.Place():
            return _place(session, call, reading)
        case calls.Remove():
            return _remove(session, call, reading)
        case calls.AddNodes():
            nodes = reading.nodes(call.nodes, call.copies)
            make_room(len(nodes))
            session.add(nodes)
        case calls.RemoveNodes():
            gone = session.remove_nodes(call.nodes)
            return Changed(RemoveAnswer, {"removed": tuple(map(_placed, gone))})
        case _:
            {"fork": session.fork, "revert": session.revert, "commit": session.commit}[verb]()
    return Changed()


def evaluated(
    session: Session, pod: Pod, names: Sequence[str] | None, *, allocations: bool
) -> PodEvaluation:
    """Return which nodes take a pod."""
    found = session.evaluate(pod, names)
    return PodEvaluation(
        pod=pod.key,
        uid=pod.uid,
        feasible=found.fitting,
        refused=tuple(
            Refused(reason=each.reason, unresolvable=each.is_unresolvable, nodes=each.nodes)
            for each in found.refused
        ),
        allocations={name: session.annotations(pod, name) for name in found.fitting}
        if allocations
        else {},
    )


def tally(change: Changed) -> Tally:
    """Return what is worth counting about a change."""
    results: Sequence[PlaceResult] = change.fields.get("results", ())
    if not results:
        return NOTHING
    reasons = Counter(each.reason for each in results if not each.placed)
    return Tally(pods=len(results), nodes=1, reasons=reasons)


def evaluation_tally(evaluations: Sequence[PodEvaluation]) -> Tally:
    """Return what is worth counting about evaluations, all of which are of the same nodes."""
    reasons: Counter[str] = Counter()
    for each in evaluations:
        for refused in each.refused:
            reasons[refused.reason] += len(refused.nodes)
    first = evaluations[0]
    return Tally(
        pod=first.pod if len(evaluations) == 1 else "",
        pods=len(evaluations),
        nodes=len(first.feasible) + sum(len(each.nodes) for each in first.refused),
        reasons=reasons,
    )


def contents(session: Session) -> tuple[NodeContent, ...]:
    """Return what is placed where."""
    return tuple(
        NodeContent(name=name, pods=tuple(map(_placed, pods)))
        for name, pods in session.content().items()
    )


def _place(session: Session, call: calls.Place, reading: Reading) -> Changed:
    pods = reading.pods([each.pod for each in call.pods], "pods[{}].pod")
    with session.together():
        results = [
            _result(pod, each.node, session.place(pod, each.node))
            for pod, each in zip(pods, call.pods, strict=True)
        ]
        if call.all_or_nothing and not all(each.placed for each in results):
            session.take_back()
            results = [_untaken(each) for each in results]
    return Changed(PlaceAnswer, {"results": tuple(results)})


def _result(pod: Pod, node: str, answer: Placed | Refusal) -> PlaceResult:
    if isinstance(answer, Placed):
        return PlaceResult(uid=pod.uid, node=node, placed=True, allocations=answer.annotations)
    return PlaceResult(
        uid=pod.uid,
        node=node,
        placed=False,
        reason=answer.text,
        unresolvable=answer.is_unresolvable,
    )


def _untaken(result: PlaceResult) -> PlaceResult:
    if not result.placed:
        return result
    return PlaceResult(uid=result.uid, node=result.node, placed=False, reason=NOT_ALL_FIT)


def _remove(session: Session, call: calls.Remove, reading: Reading) -> Changed:
    reading.must_be_one_batch(len(call.pods), "pods")
    with session.together():
        gone = tuple(session.remove(uid) for uid in call.pods)
    return Changed(RemoveAnswer, {"removed": tuple(map(_placed, gone))})


def _placed(pod: Placed) -> PlacedPod:
    return PlacedPod(
        namespace=pod.namespace,
        name=pod.name,
        uid=pod.uid,
        node=pod.node,
        allocations=pod.annotations,
    )
