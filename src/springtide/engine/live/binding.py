"""Binding one pod, step by step: lock the node, mark the pod, create the binding; or undo what was done.

A machine: `step(state, event)` returns the state after and at most one command, whose outcome is the
next event. Where the lock is another pod's the machine waits: it is told when the lock has changed, when
its owner may be gone, and that time passes. The answer is given once, at the end.
"""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from springtide.base.annotations import BIND_ALLOCATING, BIND_PHASE, BIND_TIME, NODE_LOCK
from springtide.base.durations import SECOND_NS, format_duration
from springtide.engine.live import lock
from springtide.engine.live.bind import Bind, Event, LockSeen, Phase, Rules, Step, TimePassed
from springtide.engine.live.commands import (
    CreateBinding,
    Done,
    Failed,
    Fault,
    NodeRead,
    PatchNode,
    PatchPod,
    PodRead,
    ReadNode,
    ReadPod,
)
from springtide.engine.live.lock import Hold, Lock, MalformedLock

ATTEMPTS_MAX: Final = 5
FIRST_PAUSE_S: Final = 0.1
CONTENTION: Final = "node lock contention"
_RETRIES: Final = "{Duration:100ms Factor:2 Jitter:0.5 Steps:5 Cap:0s}"


def step(bind: Bind, event: Event, rules: Rules, *, now_s: float) -> Step:
    """Return the bind after an event, and what to do next."""
    match event:
        case LockSeen(value=value, version=version):
            return _with_lock(bind, value, version, rules, now_s=now_s)
        case TimePassed():
            return _waited(bind, rules, now_s=now_s)
        case NodeRead(annotations=annotations, version=version):
            return _read(bind, annotations, version, rules, now_s=now_s)
        case PodRead():
            return _pod_read(bind, event, rules, now_s=now_s)
        case Done(version=version):
            return _done(bind, version, rules, now_s=now_s)
        case Failed():
            return _failed(bind, event, now_s)


def begin_without_lock(bind: Bind, *, now_s: float) -> Step:
    """Begin to bind a pod that asks for no devices, so that no plugin looks for it."""
    return _mark(bind, now_s)


# Taking the lock


def _with_lock(bind: Bind, value: str | None, version: str, rules: Rules, *, now_s: float) -> Step:
    """Go on with what is known of the lock; what is not known is read."""
    if not bind.waits:
        return bind, None
    if not version:
        return _look(bind, Phase.READING)
    return _considered(replace(bind, lock=value, version=version), rules, now_s=now_s)


def _considered(bind: Bind, rules: Rules, *, now_s: float) -> Step:
    """Decide by the lock as it is."""
    found = None if bind.lock is None else lock.read(bind.lock)
    if isinstance(found, MalformedLock):
        # The next one finds the node unlocked; this one says what was there.
        releasing = replace(bind, phase=Phase.RELEASING, error=found.fault)
        return releasing, _patch(bind, {NODE_LOCK: None})
    timeout_s = rules.lock_timeout_s
    match lock.standing(found, bind.owner, now_s=now_s, timeout_s=timeout_s):
        case Hold.OWN:
            return _mark_locked(bind, rules, now_s=now_s)
        case Hold.FREE | Hold.EXPIRED:
            return _lock(bind, now_s)
        case Hold.OTHERS:
            return _contended(bind, found, rules, now_s=now_s)


def _contended(bind: Bind, found: Lock | None, rules: Rules, *, now_s: float) -> Step:
    """Wait for the owner, unless it may be gone; a lock without an owner runs out some time."""
    assert found is not None
    if now_s >= bind.deadline_s:
        return _fail(bind, _locked(bind, rules, now_s))
    if found.owner is None or rules.is_alive(found.owner, bind.node):
        return _wait(bind)
    namespace, name = found.owner
    probing = replace(bind, phase=Phase.PROBING)
    return probing, ReadPod(namespace=namespace, name=name, bind=bind.uid)


def _waited(bind: Bind, rules: Rules, *, now_s: float) -> Step:
    if not bind.waits:
        return bind, None
    if now_s >= bind.deadline_s:
        return _fail(bind, _locked(bind, rules, now_s))
    if bind.phase is Phase.QUEUED:
        return bind, None
    return _considered(bind, rules, now_s=now_s)


def _locked(bind: Bind, rules: Rules, now_s: float) -> str:
    if now_s > bind.begun_s:
        waited = _go(bind.deadline_s - bind.begun_s)
        return f"timed out after {waited} waiting for node {bind.node} to be unlocked: {CONTENTION}"
    return f"node {bind.node} has been locked within {_go(rules.lock_timeout_s)}: {CONTENTION}"


def _pod_read(bind: Bind, event: PodRead, rules: Rules, *, now_s: float) -> Step:
    """Go on with what the owner of the lock, or the pod itself, turned out to be."""
    if bind.phase is Phase.PROBING:
        return _lock(bind, now_s) if _is_left_behind(bind, event, rules) else _wait(bind)
    if event.node == bind.node:
        return _end(replace(bind, error=""))
    return _undo(bind, bind.error)


def _is_left_behind(bind: Bind, owner: PodRead, rules: Rules) -> bool:
    """Return whether the plugins of this node will never serve the owner of its lock.

    Two pods whose nodes are chosen anew may each have left a lock on the node of the other.
    """
    if owner.is_finished or owner.node:
        return owner.is_finished or owner.node != bind.node
    found = None if bind.lock is None else lock.read(bind.lock)
    if not isinstance(found, Lock) or found.owner is None:
        return False
    return rules.is_meant_elsewhere(found.owner, bind.node)


def _wait(bind: Bind) -> Step:
    return replace(bind, phase=Phase.WAITING), None


def _lock(bind: Bind, now_s: float) -> Step:
    notes: dict[str, str | None] = {NODE_LOCK: lock.written(now_s, bind.owner)}
    locking = replace(bind, phase=Phase.LOCKING, attempts=bind.attempts + 1, lock=notes[NODE_LOCK])
    return locking, _patch(bind, notes)


def _patch(bind: Bind, notes: Mapping[str, str | None]) -> PatchNode:
    return PatchNode(name=bind.node, annotations=notes, version=bind.version, bind=bind.uid)


def _look(bind: Bind, phase: Phase) -> Step:
    """Read the lock, after a pause if it was tried to change it."""
    pause_s = FIRST_PAUSE_S * 2 ** (bind.attempts - 1) if bind.attempts else 0.0
    command = ReadNode(name=bind.node, after_s=pause_s, bind=bind.uid)
    return replace(bind, phase=phase), command


def _read(
    bind: Bind, annotations: Mapping[str, str], version: str, rules: Rules, *, now_s: float
) -> Step:
    value = annotations.get(NODE_LOCK)
    seen = replace(bind, lock=value, version=version)
    if bind.phase is Phase.READING:
        return _considered(seen, rules, now_s=now_s)
    assert bind.phase is Phase.LOOKING
    if not lock.is_own(value, bind.owner):
        return _end(seen)
    releasing = replace(seen, phase=Phase.RELEASING, attempts=bind.attempts + 1)
    return releasing, _patch(seen, {NODE_LOCK: None})


# Going on


def _mark_locked(bind: Bind, rules: Rules, *, now_s: float) -> Step:
    """Go on with a node that is locked, unless something has come up while it was waited for."""
    objection = rules.objection(bind.uid)
    return _undo(bind, objection) if objection else _mark(bind, now_s)


def _done(bind: Bind, version: str, rules: Rules, *, now_s: float) -> Step:
    match bind.phase:
        case Phase.LOCKING:
            return _mark_locked(replace(bind, version=version), rules, now_s=now_s)
        case Phase.MARKING:
            creating = replace(bind, phase=Phase.CREATING)
            command = CreateBinding(
                uid=bind.uid,
                namespace=bind.namespace,
                name=bind.name,
                node=bind.node,
                bind=bind.uid,
            )
            return creating, command
        case Phase.RELEASING:
            return _end(replace(bind, lock=None, version=version))
        case _:
            assert bind.phase is Phase.CREATING, bind.phase
            return _end(bind)


def _mark(bind: Bind, now_s: float) -> Step:
    notes = {BIND_PHASE: BIND_ALLOCATING, BIND_TIME: str(int(now_s))}
    command = PatchPod(
        uid=bind.uid,
        namespace=bind.namespace,
        name=bind.name,
        annotations={**bind.annotations, **notes},
        labels=bind.labels,
        bind=bind.uid,
    )
    return replace(bind, phase=Phase.MARKING, marked_s=int(now_s)), command


def _failed(bind: Bind, failure: Failed, now_s: float) -> Step:
    match bind.phase:
        case Phase.PROBING if failure.fault is Fault.NOT_FOUND:
            return _lock(bind, now_s)
        case Phase.LOCKING:
            return _not_locked(bind, failure)
        case Phase.LOOKING | Phase.RELEASING:
            return _not_released(bind, failure)
        case Phase.CREATING if failure.fault is Fault.OTHER:
            # The answer may be what was lost: a pod that is bound must keep its devices.
            checking = replace(bind, phase=Phase.CHECKING, error=failure.message)
            return checking, ReadPod(namespace=bind.namespace, name=bind.name, bind=bind.uid)
        case Phase.MARKING | Phase.CREATING | Phase.CHECKING:
            return _undo(bind, bind.error or failure.message)
        case _:
            return _fail(bind, failure.message)


def _undo(bind: Bind, error: str) -> Step:
    """Release the lock, if there is one to release, and then say why the bind has failed."""
    failed = replace(bind, error=error, attempts=0)
    return _look(failed, Phase.LOOKING) if bind.locks else _end(failed)


def _not_locked(bind: Bind, failure: Failed) -> Step:
    """Look again: the change may have been made after all, and another's lock must not be lost."""
    if failure.fault is not Fault.NOT_FOUND and bind.attempts < ATTEMPTS_MAX:
        return _look(replace(bind, version=""), Phase.READING)
    error = f"failed to set node lock (node={bind.node}, retry strategy={_RETRIES}): "
    return _fail(bind, error + failure.message)


def _not_released(bind: Bind, failure: Failed) -> Step:
    """Try again; a lock that stays is void after some time. The answer is why the bind has failed."""
    if failure.fault is not Fault.NOT_FOUND and bind.attempts < ATTEMPTS_MAX:
        return _look(replace(bind, attempts=bind.attempts + 1), Phase.LOOKING)
    return _end(bind)


def _fail(bind: Bind, error: str) -> Step:
    return _end(replace(bind, error=error))


def _end(bind: Bind) -> Step:
    return replace(bind, phase=Phase.ENDED), None


def _go(seconds: float) -> str:
    # To the millisecond: sums of clock readings are not exact.
    return format_duration(round(seconds * 1000) * (SECOND_NS // 1000))
