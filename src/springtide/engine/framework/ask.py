"""What the framework is asked: everything about a pod that some rule may read.

Equal asks get equal verdicts, so a table of verdicts is kept once an ask, not once a pod.
"""

from collections.abc import Iterable

import msgspec

from springtide.base.selectors import Selector
from springtide.engine.dynamic_resources.naming import DeviceAsk, device_ask
from springtide.model.neighbours import ALONE
from springtide.model.pod import Pod, PodSpec
from springtide.model.presence import read_labels
from springtide.model.resource_claims import DeviceObjects
from springtide.model.volumes import ClaimVolume, EphemeralVolume


class PodAsk(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True, gc=False):
    """One pod as the rules see it. What no rule reads of its identity is empty.

    Claims are looked up in the pod's namespace, and those made for it by its name and uid.
    `default_selector` is what the pod's services and its controller select it by, where the profile
    spreads pods that have no constraints of their own; None elsewhere. `device_ask` are the pod's claims
    of devices, None where nothing is known of them.
    """

    spec: PodSpec
    node_name: str = ""
    namespace: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    name: str = ""
    uid: str = ""
    default_selector: Selector | None = None
    device_ask: DeviceAsk | None = None

    @property
    def reads_others(self) -> bool:
        """Return whether any rule of the pod reads other pods."""
        return self.default_selector is not None or self.spec.neighbours.may_exclude


def ask_of(
    pod: Pod,
    *,
    with_identity: bool = False,
    keys: frozenset[str] | None = None,
    devices: DeviceObjects | None = None,
    default_selector: Selector | None = None,
) -> PodAsk:
    """Return what the pod asks; its namespace and labels only count if some rule reads them.

    `keys` are the labels that rules read, None stands for all.
    """
    volumes = pod.spec.volumes
    names_claims = bool(volumes) and any(isinstance(each, ClaimVolume) for each in volumes)
    owns_claims = bool(volumes) and any(isinstance(each, EphemeralVolume) for each in volumes)
    return PodAsk(
        spec=pod.spec,
        node_name=pod.node_name,
        namespace=pod.namespace if with_identity or names_claims or owns_claims else "",
        labels=read_labels(pod, keys) if with_identity else (),
        name=pod.name if owns_claims else "",
        uid=pod.uid if owns_claims else "",
        device_ask=device_ask(pod, devices)
        if devices is not None and pod.spec.device_claims
        else None,
        default_selector=default_selector,
    )


def keys_read(
    specs: Iterable[PodSpec], selectors: Iterable[Selector] = ()
) -> frozenset[str] | None:
    """Return which labels of pods the rules between pods of these specs read, None without rules.

    `selectors` are those by which pods are spread that state no constraint.
    """
    selected = {each.key for selector in selectors for each in selector.requirements}
    asked = {id(spec.neighbours): spec.neighbours for spec in specs if spec.neighbours is not ALONE}
    excluding = [each for each in asked.values() if each.may_exclude]
    if not excluding and not selected:
        return None
    return frozenset(selected.union(key for each in excluding for key in each.label_keys()))


def reads_others(specs: Iterable[PodSpec]) -> bool:
    """Return whether any pod of these specs has a rule that reads other pods."""
    return keys_read(specs) is not None
