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


class PodAsk(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """One pod as the rules see it. What no rule reads of its identity is empty.

    Claims are looked up in the pod's namespace, and those made for it by its name and uid.
    `default_selector` is what the pod's services and its controller select it by; only constraints
    that a profile spreads all pods by read it. `device_ask` are the pod's claims of devices, None where
    nothing is known of them.
    """

    spec: PodSpec
    node_name: str = ""
    namespace: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    name: str = ""
    uid: str = ""
    default_selector: Selector | None = None
    device_ask: DeviceAsk | None = None


def ask_of(
    pod: Pod,
    *,
    with_identity: bool = False,
    keys: frozenset[str] | None = None,
    devices: DeviceObjects | None = None,
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
    )


def keys_read(specs: Iterable[PodSpec]) -> frozenset[str] | None:
    """Return which labels of pods the rules between pods of these specs read, None without rules."""
    asked = {id(spec.neighbours): spec.neighbours for spec in specs if spec.neighbours is not ALONE}
    excluding = [each for each in asked.values() if each.may_exclude]
    if not excluding:
        return None
    return frozenset(key for each in excluding for key in each.label_keys())


def reads_others(specs: Iterable[PodSpec]) -> bool:
    """Return whether any pod of these specs has a rule that reads other pods."""
    return keys_read(specs) is not None
