"""`/filter-simulation`: the bytes of a call to the bytes of its answer, and nothing else."""

from collections.abc import Sequence

import msgspec

from springtide.apps.sessions.replies import ANSWERED, NOTHING, Tally
from springtide.apps.sessions.rules import Rules
from springtide.engine.simulation.filtering import Group, filtered, id_name
from springtide.engine.simulation.supply import ANY_NODE
from springtide.wire.extender.walking import Buffer
from springtide.wire.k8s import Parts
from springtide.wire.simulation import (
    Annotated,
    ErrorClass,
    InvalidCall,
    MalformedCall,
    read_call,
    simulation_error,
    simulation_result,
)


class FilterAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a call, with what is worth counting about it.

    `outcome` is a class of errors, or `answered`. The body goes out with status 200 either way; its `pieces`
    are most of them within the body of the call, and need not be copied to be sent.
    """

    pieces: Sequence[bytes | memoryview]
    outcome: str = ANSWERED
    fitting: int = 0
    tally: Tally = NOTHING

    @property
    def body(self) -> bytes:
        """Return the answer in one piece."""
        return b"".join(self.pieces)


def filter_simulation(body: Buffer, rules: Rules, *, keeps_dynamic: bool = False) -> FilterAnswer:
    """Return which of the nodes in the body take its pod."""
    try:
        call = read_call(body, Parts(), nodes_max=rules.bounds.nodes_max)
    except MalformedCall as fault:
        return failed(ErrorClass.MALFORMED, str(fault))
    except InvalidCall as fault:
        return failed(ErrorClass.INVALID, str(fault))
    sight = rules.sight(keeps_dynamic=keeps_dynamic)
    misses, replays = sight.memo.misses, sight.replays
    groups = filtered(call.pod, call.nodes, sight)
    fitting = sorted(place for group in groups if not group.refusal for place in group.positions)
    names = [node.name for node in call.nodes]
    return FilterAnswer(
        pieces=simulation_result(
            [call.objects[place] for place in fitting],
            failed=_reasons(groups, names, unresolvable=False),
            unresolvable=_reasons(groups, names, unresolvable=True),
            allocations=[_annotated(group, names) for group in groups if group.annotations],
        ),
        fitting=len(fitting),
        tally=Tally(
            pod=call.pod.key,
            pods=1,
            nodes=len(names),
            anew=sight.memo.misses - misses,
            replays=sight.replays - replays,
            reasons=_counted(groups),
        ),
    )


def _counted(groups: Sequence[Group]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for group in groups:
        if group.refusal is not None:
            text = group.refusal.text
            counts[text] = counts.get(text, 0) + len(group.positions)
    return counts


def _reasons(
    groups: Sequence[Group], names: Sequence[str], *, unresolvable: bool
) -> dict[str, str]:
    return {
        names[place]: group.refusal.text
        for group in groups
        if group.refusal is not None and group.refusal.is_unresolvable is unresolvable
        for place in group.positions
    }


def _annotated(group: Group, names: Sequence[str]) -> Annotated:
    nodes = [(names[place], id_name(names[place])) for place in group.positions]
    return Annotated(annotations=group.annotations, nodes=nodes, marker=ANY_NODE)


def failed(kind: ErrorClass, why: str) -> FilterAnswer:
    """Return the answer that a call cannot be answered."""
    return FilterAnswer(pieces=simulation_error(kind, why), outcome=kind)
