"""Classes of pods: everything about a pod that any rule reads.

Two pods of one class get the same verdict from every rule, so verdicts are kept per class. A class
is the framework's ask plus one ask per device family; names and uids are not part of it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.base.names import PODS
from springtide.engine.framework.ask import PodAsk, ask_of
from springtide.engine.framework.claims import held_claims, named_disks
from springtide.engine.framework.default_selector import DefaultSelectors
from springtide.engine.framework.requests import (
    SPEC_CACHE_ENTRIES,
    held_requests,
    pod_host_ports,
    pod_requests,
)
from springtide.engine.framework.unstated import unstated
from springtide.engine.placement.family import Ask, DeviceFamily
from springtide.engine.placement.quota import is_limited
from springtide.model.device import Share
from springtide.model.ledger import Holding, Unstated
from springtide.model.pod import HostPort, Pod, PodSpec
from springtide.model.presence import Presence, presence
from springtide.model.quotas import Quotas
from springtide.model.refusal import Refusal
from springtide.model.resource_claims import DeviceObjects
from springtide.model.resources import AmountList
from springtide.model.volumes import DiskVolume

NO_QUOTAS: Final = Quotas()
"""What classifies where no namespace has a quota."""

PODS_MAX: Final = 262_144
"""Pods whose class is remembered by uid."""


class PodClass(msgspec.Struct, frozen=True, cache_hash=True, gc=False):
    """What a set of interchangeable pods asks for. Hashable.

    `asks` holds one ask per device family, in the order of the families; `refusal` is set if an
    ask makes no sense, and then no node fits. `amounts` includes `pods: 1`. `presence` is what the
    pods show to rules between pods once they are placed, None where there are no such rules.
    `appearance` stands for what scheduler extenders see of the pods beyond that, empty where none is
    asked. `quota` is their namespace where it has a quota of what they ask.
    """

    framework: PodAsk
    asks: tuple[Ask, ...] = ()
    refusal: Refusal | None = None
    amounts: tuple[tuple[str, int], ...] = ()
    ports: tuple[HostPort, ...] = ()
    claims: tuple[str, ...] = ()
    disks: tuple[DiskVolume, ...] = ()
    presence: Presence | None = None
    unstated: Unstated | None = None
    appearance: str = ""
    quota: str = ""

    @property
    def names_devices(self) -> bool:
        """Return whether the pods require devices by id, which no future node can have."""
        return any(ask.names_devices for ask in self.asks)


_Key = tuple[PodAsk, tuple[tuple[str, str], ...], str, str]
"""The framework's ask, the annotations that families read, the appearance, the limited namespace."""


def without_quota(pod_class: PodClass) -> PodClass:
    """Return the class of pods that ask the same in a namespace without a quota."""
    return replace(pod_class, quota="")


class Classifier:
    """Finds the class of a pod; equal pods get the identical class object.

    `keys` are the labels that rules between pods read. With None there are no such rules, and
    namespaces and labels do not part classes. With `devices` it is known what pods claim. `appearance`
    says what scheduler extenders see of a pod; without it none is asked. `defaults` knows who is spread
    by default, and `quotas` which namespaces are limited.
    """

    def __init__(
        self,
        families: Mapping[str, DeviceFamily],
        *,
        keys: frozenset[str] | None = None,
        devices: DeviceObjects | None = None,
        appearance: Callable[[Pod], str] | None = None,
        defaults: DefaultSelectors | None = None,
        quotas: Quotas = NO_QUOTAS,
    ) -> None:
        self._families = families
        self._quotas = quotas
        self._devices = devices
        self._keys = keys
        self._appearance = appearance
        self._defaults = defaults
        self._annotations = sorted(
            {name for family in families.values() for name in family.relevant_annotations()}
        )
        self._classes: dict[_Key, PodClass] = {}
        self._equal: dict[PodClass, PodClass] = {}
        self._by_uid: dict[str, tuple[Pod, PodClass]] = {}

    def classify(self, pod: Pod) -> PodClass:
        """Return the pod's class."""
        known = self._by_uid.get(pod.uid)
        if known is not None and known[0] is pod:
            return known[1]
        found = self.found(pod)
        # A plan asks for the same pods in every step; a process that runs for ever asks for new ones.
        if len(self._by_uid) >= PODS_MAX:
            self._by_uid.clear()
        self._by_uid[pod.uid] = (pod, found)
        return found

    def found(self, pod: Pod) -> PodClass:
        """Return the pod's class, and keep nothing of the pod itself."""
        annotations = pod.annotations
        read = self._read_by_families(annotations) if annotations else ()
        ask = ask_of(
            pod,
            with_identity=self.has_rules_between,
            keys=self._keys,
            devices=self._devices,
            default_selector=None if self._defaults is None else self._defaults.of(pod),
        )
        appearance = "" if self._appearance is None else self._appearance(pod)
        quota = pod.namespace if self._quotas.limited(pod.namespace) else ""
        key = (ask, read, appearance, quota)
        found = self._classes.get(key)
        if found is None:
            found = self._build(pod, ask, appearance)
            if self._quotas.limits:
                # Of pods that no quota bounds, the namespace does not count.
                found = self._equal.setdefault(found, found)
            self._classes[key] = found
        return found

    def _read_by_families(self, annotations: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        return tuple(
            [(name, annotations[name]) for name in self._annotations if name in annotations]
        )

    @property
    def has_rules_between(self) -> bool:
        """Return whether any rule of any pod reads other pods."""
        return self._keys is not None

    def _build(self, pod: Pod, ask: PodAsk, appearance: str) -> PodClass:
        asks: list[Ask] = []
        refusal: Refusal | None = None
        for family in self._families.values():
            answer = family.ask(pod)
            if isinstance(answer, Refusal):
                refusal = refusal or answer
            elif answer is not None:
                asks.append(answer)
        return PodClass(
            framework=ask,
            asks=tuple(asks),
            refusal=refusal,
            amounts=held_amounts(pod.spec),
            ports=pod_host_ports(pod.spec),
            claims=held_claims(pod),
            disks=named_disks(pod.spec.volumes),
            presence=presence(ask.namespace, ask.labels, ask.spec)
            if self.has_rules_between
            else None,
            unstated=unstated(pod.spec),
            appearance=appearance,
            quota=self._quota_of(pod, asks),
        )

    def _quota_of(self, pod: Pod, asks: Sequence[Ask]) -> str:
        families = (self._families[ask.family] for ask in asks)
        return pod.namespace if is_limited(families, pod.namespace, quotas=self._quotas) else ""


@lru_cache(maxsize=SPEC_CACHE_ENTRIES)
def held_amounts(spec: PodSpec) -> tuple[tuple[str, int], ...]:
    """Return what a pod of this spec takes of a node's resources, itself as one of `pods`."""
    return ((PODS, 1), *sorted(pod_requests(spec).items()))


def standing_amounts(pod: Pod) -> tuple[tuple[str, int], ...]:
    """Return what a pod that runs already takes of its node, a resize in progress included."""
    if pod.resize is None:
        return held_amounts(pod.spec)
    return ((PODS, 1), *sorted(held_requests(pod).items()))


def standing_holding(
    pod: Pod,
    row: int,
    *,
    shares: tuple[tuple[str, tuple[Share, ...]], ...] = (),
    presence: Presence | None = None,
    charges: AmountList = (),
) -> Holding:
    """Return what a pod that runs already holds of its row.

    Shares, presence and charges against a quota are the caller's.
    """
    return Holding(
        uid=pod.uid,
        row=row,
        amounts=standing_amounts(pod),
        ports=pod_host_ports(pod.spec),
        shares=shares,
        claims=held_claims(pod),
        disks=named_disks(pod.spec.volumes),
        presence=presence,
        unstated=unstated(pod.spec, pod.resize),
        namespace=pod.namespace if charges else "",
        charges=charges,
    )
