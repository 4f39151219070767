"""Who comes in a replay, in which order, and who stays where it is.

Everything is put in an order of its own first, nodes by name and pods by the time at which they were
created, so that neither the order of files nor that of a server's list decides anything.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Set
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

_OUTCOMES: Final = (
    ("stays on its node", "stay on their nodes"),
    ("is left out", "are left out"),
)


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
    wanted = managed if is_devices_only else None
    known = {node.name for node in found.nodes}
    stored = [(pod, _reason(pod, known, wanted)) for pod in in_order(found.pods)]
    planned = [(pod, _plain(pod, wanted)) for pod in in_order(found.manifests)]
    there = [(pod, reason) for pod, reason in stored if reason is None or _occupies(pod)]
    bare = replace(
        found,
        nodes=tuple(sorted(found.nodes, key=lambda node: node.name)),
        manifests=tuple(pod for pod, why in planned if why is None or _occupies(pod)),
        # Neither new nodes nor what would be on them is asked about.
        groups=(),
        profiles=(),
        daemon_sets=(),
    )
    return Script(
        recorded=replace(bare, pods=tuple(replace(pod, nominated_node="") for pod, _ in there)),
        cleared=replace(
            bare, pods=tuple(_unbound(pod) if why is None else pod for pod, why in there)
        ),
        is_recorded=any(reason is None and pod.node_name for pod, reason in there),
        notes=tuple(_told([*stored, *planned])),
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
    return _plain(pod, managed)


def _plain(pod: Pod, managed: Set[str] | None) -> Reason | None:
    if managed is None:
        return None
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    names = (name for each in containers for name, _ in (*each.limits, *each.requests))
    return PLAIN if managed.isdisjoint(names) else None


def _occupies(pod: Pod) -> bool:
    return bool(pod.node_name) and not pod.is_finished


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


def _told(parted: Iterable[tuple[Pod, Reason | None]]) -> Iterator[str]:
    """Yield a sentence for each reason and what becomes of the pods."""
    counts = Counter(
        (not _occupies(pod), reason) for pod, reason in parted if reason not in {None, ELSEWHERE}
    )
    for (is_absent, reason), count in sorted(counts.items()):
        assert reason is not None
        outcome = _OUTCOMES[is_absent]
        yield f"{counted(count, 'pod')} {reason[count > 1]} and {outcome[count > 1]}."
