"""What is tried where no node takes a pod (PostFilter): devices given back, pods evicted.

The plugins of the profile are asked in order. The first that helps, or that fails, has the word;
otherwise all of them say why not.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final

import msgspec

from springtide.engine.framework.dynamic_resources import deallocation
from springtide.engine.framework.nominated import Judge
from springtide.engine.framework.preparation import PreparedAsk
from springtide.engine.framework.rule import Rows
from springtide.engine.preemption import Evictable, Preempted, preempt
from springtide.engine.preemption.preemption import NAME as PREEMPTION
from springtide.model.pod import Pod

DYNAMIC_RESOURCES: Final = "DynamicResources"
NOT_FOUND: Final = "not found"
"""What DynamicResources says if it was not asked before."""
# The plugins that reject a pod no sooner than when DynamicResources has been asked.
_LATE: Final = frozenset({DYNAMIC_RESOURCES, "NodeDeclaredFeatures"})


class Code(StrEnum):
    """What became of it."""

    SUCCESS = "Success"
    UNSCHEDULABLE = "Unschedulable"
    ERROR = "Error"


class PostFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What was said in the end, and who would have to go, and from where, if that helps."""

    code: Code
    message: str
    preempted: Preempted | None = None


def post_filter(
    pod: Pod,
    judge: Judge,
    *,
    promising: Rows,
    evictable: Evictable,
    on_claims: str = "",
    offset: int = 0,
    below: int | None = None,
) -> PostFilter:
    """Return what the plugins say of a pod that fits nowhere; see `preempt` for most of it.

    `on_claims` is what DynamicResources says of claims that it could give back.
    """
    said: list[str] = []
    for plugin in judge.framework.config.post_filters:
        if plugin == DYNAMIC_RESOURCES:
            if _is_unasked(judge.prepared, judge):
                return PostFilter(code=Code.ERROR, message=NOT_FOUND)
            said.append(on_claims)
        elif plugin == PREEMPTION:
            answer = preempt(
                pod, judge, promising=promising, evictable=evictable, offset=offset, below=below
            )
            if answer.victims is not None or answer.is_error:
                code = Code.ERROR if answer.is_error else Code.SUCCESS
                return PostFilter(code=code, message=answer.message, preempted=answer)
            said.append(answer.message)
    return PostFilter(code=Code.UNSCHEDULABLE, message=", ".join(filter(None, said)))


def given_back(pod: Pod, judge: Judge, refusing: Callable[[int], Iterable[int]]) -> str:
    """Return what DynamicResources says of claims whose devices no node could use, empty if nothing.

    `refusing` are the rows that the rule of a code refuses.
    """
    code, check = judge.framework.claims_check(judge.prepared)
    objects = judge.framework.devices
    if check is None or objects is None:
        return ""
    unavailable = check.unavailable(judge.overlay.ledger, refusing(code))
    return deallocation(pod.uid, unavailable, objects)


def _is_unasked(prepared: PreparedAsk, judge: Judge) -> bool:
    """Return whether the pod was rejected before DynamicResources had a look at it."""
    rejection = prepared.rejection
    is_cut = rejection is not None and rejection.is_unresolvable and rejection.rule not in _LATE
    return is_cut or not judge.framework.prepares(DYNAMIC_RESOURCES)
