"""What the framework is asked: everything about a pod that some rule may read.

Equal asks get equal verdicts, so a table of verdicts is kept once an ask, not once a pod.
"""

import msgspec

from springtide.model.pod import Pod, PodSpec


class PodAsk(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """One pod as the rules see it. `namespace` and `labels` are empty where no rule reads them."""

    spec: PodSpec
    node_name: str = ""
    namespace: str = ""
    labels: tuple[tuple[str, str], ...] = ()


def ask_of(pod: Pod, *, with_identity: bool = False) -> PodAsk:
    """Return what the pod asks; its namespace and labels only count if some rule reads them."""
    if not with_identity:
        return PodAsk(spec=pod.spec, node_name=pod.node_name)
    return PodAsk(
        spec=pod.spec,
        node_name=pod.node_name,
        namespace=pod.namespace,
        labels=tuple(sorted(pod.labels.items())),
    )
