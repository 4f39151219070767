"""Device objects of an input, gathered into one `DeviceObjects`."""

from collections.abc import Callable
from typing import TypeVar, assert_never

from springtide.model.device_slices import DeviceClass, ResourceSlice, TaintRule
from springtide.model.resource_claims import ClaimTemplate, DeviceObjects, ResourceClaim
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import device_schema
from springtide.wire.k8s.claims import to_claim_template, to_resource_claim
from springtide.wire.k8s.pods import DEFAULT_NAMESPACE
from springtide.wire.k8s.slices import to_device_class, to_slice, to_taint_rule

RecordT = TypeVar("RecordT")


class DeviceReading:
    """The device objects read so far."""

    def __init__(self) -> None:
        self._claims: dict[str, ResourceClaim] = {}
        self._templates: dict[str, ClaimTemplate] = {}
        self._classes: dict[str, DeviceClass] = {}
        self._slices: dict[str, ResourceSlice] = {}
        self._taint_rules: dict[str, TaintRule] = {}

    def keep(self, read: device_schema.DeviceObject) -> bool:
        """Keep an object, and return whether it is the first of its name; or MalformedObject."""
        metadata = read.metadata
        name = metadata.name
        if not name:
            raise MalformedObject("metadata.name", "the object has no name; give it one.")
        namespaced = f"{metadata.namespace or DEFAULT_NAMESPACE}/{name}"
        match read:
            case device_schema.ResourceClaim():
                return _kept(self._claims, namespaced, lambda: to_resource_claim(read))
            case device_schema.ResourceClaimTemplate():
                return _kept(self._templates, namespaced, lambda: to_claim_template(read))
            case device_schema.DeviceClass():
                return _kept(self._classes, name, lambda: to_device_class(read))
            case device_schema.ResourceSlice():
                return _kept(self._slices, name, lambda: to_slice(read))
            case device_schema.DeviceTaintRule():
                return _kept(self._taint_rules, name, lambda: to_taint_rule(read))
            case _:
                assert_never(read)

    def objects(self) -> DeviceObjects:
        """Return all that was read."""
        return DeviceObjects(
            claims=self._claims,
            templates=self._templates,
            classes=self._classes,
            slices=self._slices,
            taint_rules=self._taint_rules,
        )


def _kept(kept: dict[str, RecordT], key: str, make: Callable[[], RecordT]) -> bool:
    if key in kept:
        return False
    kept[key] = make()
    return True
