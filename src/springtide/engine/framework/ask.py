"""What the framework is asked: everything about a pod that some rule may read.

Equal asks get equal verdicts, so a table of verdicts is kept once an ask, not once a pod.
"""

import msgspec

from springtide.model.pod import Pod, PodSpec
from springtide.model.volumes import ClaimVolume, EphemeralVolume


class PodAsk(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """One pod as the rules see it. What no rule reads of its identity is empty.

    Claims are looked up in the pod's namespace, and those made for it by its name and uid.
    """

    spec: PodSpec
    node_name: str = ""
    namespace: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    name: str = ""
    uid: str = ""


def ask_of(pod: Pod, *, with_identity: bool = False) -> PodAsk:
    """Return what the pod asks; its namespace and labels only count if some rule reads them."""
    volumes = pod.spec.volumes
    names_claims = bool(volumes) and any(isinstance(each, ClaimVolume) for each in volumes)
    owns_claims = bool(volumes) and any(isinstance(each, EphemeralVolume) for each in volumes)
    return PodAsk(
        spec=pod.spec,
        node_name=pod.node_name,
        namespace=pod.namespace if with_identity or names_claims or owns_claims else "",
        labels=tuple(sorted(pod.labels.items())) if with_identity else (),
        name=pod.name if owns_claims else "",
        uid=pod.uid if owns_claims else "",
    )
