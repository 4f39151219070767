"""Who comes in a replay, in which order, and who stays where it is.

Everything is put in an order of its own first, nodes by name and pods by the time at which they were
created, so that neither the order of files nor that of a server's list decides anything.
"""

from collections import Counter
from collections.abc import Iterable, Set
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.apps.planner.words import counted
from springtide.model.pod import Pod
from springtide.wire.documents import Input
from springtide.wire.hami import keys

# By these a pod is taken to be on its way to a node to which it is not bound yet.
_ON_ITS_WAY: Final = frozenset({keys.NODE, keys.BIND_PHASE})

Reason = tuple[str, str]
"""Why pods do not come, said of one and of many."""

FINISHED: Final = ("is finished", "are finished")
OF_NODES: Final = ("is of a DaemonSet or static", "are of DaemonSets or static")
CLAIMING: Final = ("claims devices (resourceClaims)", "claim devices (resourceClaims)")
PLAIN: Final = ("asks for no devices", "ask for no devices")
# Every answer about an input says it of pods on nodes that the input does not have.
ELSEWHERE: Final = ("", "")


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """An input made ready: `recorded` as it is, and `cleared` of the pods that come, which wait there.

    `is_recorded`: some pod that comes has a node. `notes` say who does not come.
    """

    recorded: Input
    cleared: Input
    is_recorded: bool
    notes: tuple[str, ...]


def script(found: Input, *, managed: Set[str], is_devices_only: bool) -> Script:
    """Return the script of an input; `managed` are the resources of device families.

    With `is_devices_only` pods that ask for none of these do not come.
    """
    known = {node.name for node in found.nodes}
    staying: Counter[Reason] = Counter()
    absent: Counter[Reason] = Counter()
    recorded: list[Pod] = []
    cleared: list[Pod] = []
    is_recorded = False
    for pod in in_order(found.pods):
        reason = _reason(pod, known, managed if is_devices_only else None)
        if reason is None:
            recorded.append(replace(pod, nominated_node=""))
            cleared.append(_unbound(pod))
            is_recorded |= bool(pod.node_name)
        elif pod.node_name and not pod.is_finished:
            recorded.append(pod)
            cleared.append(pod)
            staying[reason] += 1
        else:
            absent[reason] += 1
    manifests = [
        pod for pod in in_order(found.manifests) if not is_devices_only or _asks(pod, managed)
    ]
    absent[PLAIN] += len(found.manifests) - len(manifests)
    # Neither new nodes nor what would be on them is asked about.
    bare = replace(found, groups=(), profiles=(), daemon_sets=(), manifests=tuple(manifests))
    bare = replace(bare, nodes=tuple(sorted(found.nodes, key=lambda node: node.name)))
    return Script(
        recorded=replace(bare, pods=tuple(recorded)),
        cleared=replace(bare, pods=tuple(cleared)),
        is_recorded=is_recorded,
        notes=(
            *_told(staying, "stays on its node", "stay on their nodes"),
            *_told(absent, "is left out", "are left out"),
        ),
    )


def in_order(pods: Iterable[Pod]) -> list[Pod]:
    """Return the pods as they were created, those of one second by name, and others last."""
    return sorted(pods, key=lambda pod: (not pod.created, pod.created, pod.key))


def _reason(pod: Pod, known: Set[str], managed: Set[str] | None) -> Reason | None:
    """Return why a pod does not come, None if it does; only resources in `managed` count."""
    if pod.is_finished:
        return FINISHED
    if pod.node_name and pod.node_name not in known:
        return ELSEWHERE
    if pod.is_mirror or (pod.is_daemon and pod.node_name):
        return OF_NODES
    # What a claim was given stands in the claim, and only its own pod may have it.
    if pod.node_name and pod.spec.device_claims:
        return CLAIMING
    return None if managed is None or _asks(pod, managed) else PLAIN


def _asks(pod: Pod, managed: Set[str]) -> bool:
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    return any(name in managed for each in containers for name, _ in (*each.limits, *each.requests))


def _unbound(pod: Pod) -> Pod:
    """Return the pod as it was when it came; one that waits and is being deleted stays so."""
    return replace(
        pod,
        node_name="",
        nominated_node="",
        phase="Pending",
        resize=None,
        is_terminating=pod.is_terminating and not pod.node_name,
        annotations={
            name: value for name, value in pod.annotations.items() if name not in _ON_ITS_WAY
        },
    )


def _told(counts: Counter[Reason], one: str, many: str) -> tuple[str, ...]:
    """Return a sentence for each reason, with what becomes of one pod or of many."""
    return tuple(
        f"{counted(count, 'pod')} {reason[count > 1]} and {many if count > 1 else one}."
        for reason, count in sorted(counts.items())
        if count and reason != ELSEWHERE
    )
