"""A trace as the objects of a cluster, so that its pods come as those of any other."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from springtide.apps.bench.registered import node_of, pods_of
from springtide.apps.planner.setting import InvalidInput
from springtide.model.pod import Pod
from springtide.model.trace import TraceNode, TracePod
from springtide.wire.documents import Input

NAMESPACE: Final = "trace"

NOTE: Final = (
    "A GPU of the trace is a card of 1,000 MiB here, so that a MiB is a thousandth of it; created is "
    "the second of the trace."
)
_TIMELESS: Final = "pod {} has no creation_time; add the times or leave --with-departures out."

Stay = tuple[float, float | None]
"""When a pod came and when it went, in seconds; None if it did not go."""


def as_input(nodes: Sequence[TraceNode], pods: Sequence[TracePod]) -> Input:
    """Return the trace as the input of a replay; no pod has a node yet."""
    return Input(
        nodes=tuple(map(node_of, nodes)),
        pods=tuple(_named(pods)),
        notes=(NOTE,),
        counts={"Node": len(nodes), "Pod": len(pods)},
    )


def stays(pods: Sequence[TracePod], *, source: str) -> dict[str, Stay]:
    """Return when each pod came and went, or raise `InvalidInput` where that is not known."""
    found: dict[str, Stay] = {}
    for pod in pods:
        if pod.created_s is None:
            raise InvalidInput(f"{source}: {_TIMELESS.format(pod.name)}")
        found[f"{NAMESPACE}/{pod.name}"] = (pod.created_s, pod.deleted_s)
    return found


def _named(pods: Sequence[TracePod]) -> Iterator[Pod]:
    """Yield the pods under their names in the trace, each with the second in which it came."""
    for recorded, pod in zip(pods, pods_of(pods, range(len(pods))), strict=True):
        # Texts of one length, so that they are in the order of the times.
        created = "" if recorded.created_s is None else f"{recorded.created_s:010}"
        named = replace(pod, namespace=NAMESPACE, name=recorded.name, uid=recorded.name)
        yield replace(named, created=created)
