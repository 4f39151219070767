"""DeviceProfile documents: from a file or from the cluster, the same form.

Of the status of a profile that is used to decide only two things count: `lastVerified`, the devices that
real nodes last registered, and whether it is degraded. What cannot be true is refused with the name of
the field, and an invalid profile decides nothing.
"""

from typing import Any

import msgspec

from springtide.base.durations import SECOND_NS, MalformedDuration, parse_duration_ns
from springtide.base.errors import SpringtideError
from springtide.base.labels import is_subdomain
from springtide.model.profile import (
    Condition,
    ConditionType,
    DeviceProfile,
    Mismatch,
    ProfileStatus,
    StoredProfile,
)
from springtide.wire import strict
from springtide.wire.crd.devices import to_devices
from springtide.wire.crd.profile_schema import (
    API_VERSION,
    DURATION_CHARS_MAX,
    KIND,
    ProfileDocument,
    ProfileMetadata,
    ProfileStatusEntry,
)
from springtide.wire.crd.selector import to_selector
from springtide.wire.k8s.parts import plain, without_nulls
from springtide.wire.origin import Origin


def read_device_profile(value: Any, *, origin: Origin) -> DeviceProfile:
    """Return the profile, or raise InvalidDocument for the first fault."""
    document = strict.read(value, ProfileDocument, origin=origin)
    return _profile(document, _status(document.status, origin), origin)


def decode_stored_profile(data: msgspec.Raw) -> StoredProfile:
    """Return a profile as it is stored, or raise if not even its name can be read."""
    header = msgspec.json.decode(data, type=_Header).metadata
    origin = Origin(source=f"{KIND}/{header.name}")
    value = _plain(data)
    # What was said before is known even of a profile that cannot be read, and the other way round.
    status = _status_of(value.pop("status", {}), origin)
    profile, fault = None, ""
    try:
        profile = _profile(strict.read(value, ProfileDocument, origin=origin), status, origin)
    except SpringtideError as refused:
        fault = str(refused).removeprefix(f"{origin.source}: ")
    return StoredProfile(
        name=header.name,
        uid=header.uid,
        generation=header.generation,
        version=header.resource_version,
        profile=profile,
        fault=fault,
        status=status,
    )


class _Header(msgspec.Struct, frozen=True):
    metadata: ProfileMetadata


def _plain(data: msgspec.Raw) -> dict[str, Any]:
    value = without_nulls(plain(data))
    assert isinstance(value, dict)
    # The items of a list need not say what they are.
    return {"apiVersion": API_VERSION, "kind": KIND, **value}


def _status_of(value: object, origin: Origin) -> ProfileStatus:
    try:
        return _status(strict.read(value, ProfileStatusEntry, origin=origin), origin)
    except SpringtideError:
        return ProfileStatus()


def _profile(document: ProfileDocument, status: ProfileStatus, origin: Origin) -> DeviceProfile:
    spec = document.spec
    if not document.metadata.name:
        raise origin.fault(("metadata", "name"), "the name is empty; give the profile one.")
    if not is_subdomain(document.metadata.name):
        reason = (
            f'"{document.metadata.name}" is no name of an object; write lower case letters, digits, '
            '"-" and ".", with a letter or digit at both ends.'
        )
        raise origin.fault(("metadata", "name"), reason)
    if not spec.devices:
        raise origin.fault(("spec", "devices"), "the list is empty; describe at least one device.")
    generation = document.metadata.generation
    is_current = status.verified_generation in (None, generation)
    return DeviceProfile(
        name=document.metadata.name,
        selector=to_selector(spec.node_selector, origin=origin, path=("spec", "nodeSelector")),
        devices=to_devices(spec.devices, origin=origin, path=("spec", "devices")),
        # What was seen of an earlier version of the profile says nothing about this one.
        last_verified=status.last_verified if is_current else (),
        homogeneity=spec.homogeneity,
        on_mismatch=spec.on_mismatch,
        registration_timeout_s=_timeout_s(spec.registration_timeout, origin),
        degraded=_degraded(status, generation),
    )


def _timeout_s(text: str, origin: Origin) -> float:
    try:
        found_ns = parse_duration_ns(text) if len(text) <= DURATION_CHARS_MAX else 0
    except MalformedDuration:
        found_ns = 0
    if found_ns <= 0:
        reason = f'"{text[:DURATION_CHARS_MAX]}" is not a duration above 0; write one like 10m.'
        raise origin.fault(("spec", "registrationTimeout"), reason)
    return found_ns / SECOND_NS


def _degraded(status: ProfileStatus, generation: int) -> str:
    return next(
        (
            each.message or each.reason
            for each in status.conditions
            if each.type == ConditionType.DEGRADED
            and each.status == "True"
            and each.observed_generation == generation
        ),
        "",
    )


def _status(read: ProfileStatusEntry, origin: Origin) -> ProfileStatus:
    return ProfileStatus(
        conditions=tuple(
            Condition(
                type=each.type,
                status=each.status,
                reason=each.reason,
                message=each.message,
                observed_generation=each.observed_generation,
                changed=each.last_transition_time,
            )
            for each in read.conditions
        ),
        observed_generation=read.observed_generation,
        observed_nodes=read.observed_nodes,
        verified_nodes=read.verified_nodes,
        mismatched_nodes=read.mismatched_nodes,
        mismatches=tuple(
            Mismatch(node=each.node, reason=each.reason, message=each.message)
            for each in read.mismatches
        ),
        last_verified=to_devices(
            read.last_verified.devices,
            origin=origin,
            path=("status", "lastVerified", "devices"),
        ),
        verified_generation=read.last_verified.generation,
    )
