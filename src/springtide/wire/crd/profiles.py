"""DeviceProfile documents: from a file or from the cluster, the same form.

Of the status only `lastVerified` counts, the devices that real nodes last registered. What cannot
be true is refused with the name of the field, and an invalid profile decides nothing.
"""

from typing import Any, Final, Literal

import msgspec

from springtide.model.profile import DeviceProfile, Homogeneity, OnMismatch
from springtide.wire import strict
from springtide.wire.crd.devices import DeviceEntry, to_devices
from springtide.wire.crd.durations import duration_s
from springtide.wire.crd.selector import NodeSelector, to_selector
from springtide.wire.origin import Origin

API_VERSION: Final = "springtide.io/v1alpha1"
KIND: Final = "DeviceProfile"


class ProfileMetadata(msgspec.Struct, frozen=True):
    """The name of the profile; stored objects carry much more."""

    name: str


class ProfileSpec(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """What the profile says."""

    node_selector: NodeSelector
    devices: tuple[DeviceEntry, ...]
    homogeneity: Homogeneity = Homogeneity.STRICT
    on_mismatch: OnMismatch = OnMismatch.QUARANTINE
    registration_timeout: str = "10m"


class LastVerified(msgspec.Struct, frozen=True):
    """The devices of the nodes that were last verified."""

    devices: tuple[DeviceEntry, ...] = ()


class ProfileStatus(msgspec.Struct, frozen=True, rename="camel"):
    """What the controller has found out."""

    last_verified: LastVerified = LastVerified()


class ProfileDocument(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """The document as written."""

    api_version: Literal["springtide.io/v1alpha1"]
    kind: Literal["DeviceProfile"]
    metadata: ProfileMetadata
    spec: ProfileSpec
    status: ProfileStatus = ProfileStatus()


def read_device_profile(value: Any, *, origin: Origin) -> DeviceProfile:
    """Return the profile, or raise InvalidDocument for the first fault."""
    document = strict.read(value, ProfileDocument, origin=origin)
    spec = document.spec
    if not document.metadata.name:
        raise origin.fault(("metadata", "name"), "the name is empty; give the profile one.")
    if not spec.devices:
        raise origin.fault(("spec", "devices"), "the list is empty; describe at least one device.")
    timeout_s = duration_s(spec.registration_timeout)
    if not timeout_s:
        reason = f'"{spec.registration_timeout}" is not a duration above 0; write one like 10m.'
        raise origin.fault(("spec", "registrationTimeout"), reason)
    return DeviceProfile(
        name=document.metadata.name,
        selector=to_selector(spec.node_selector, origin=origin, path=("spec", "nodeSelector")),
        devices=to_devices(spec.devices, origin=origin, path=("spec", "devices")),
        last_verified=to_devices(
            document.status.last_verified.devices,
            origin=origin,
            path=("status", "lastVerified", "devices"),
        ),
        homogeneity=spec.homogeneity,
        on_mismatch=spec.on_mismatch,
        registration_timeout_s=timeout_s,
    )
