"""Raw parts of objects, converted once for equal bytes.

The replicas of a workload repeat their resources, tolerations and affinity byte for byte, and so do
the nodes of a group. `Parts` remembers what became of each distinct part, and hands out one object
for equal values, so that equal pods are found by identity. It is meant to live for one decoding, or
as long as a watch.
"""

import math
from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Raw

from springtide.base import quantity
from springtide.model.node import Image
from springtide.model.pod import PodSpec, Resize
from springtide.model.preferences import Preferences
from springtide.model.resources import Resources
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s.schema import ContainerImage, Quantities, ResourceRequirements
from springtide.wire.validation import malformed

# A cluster of 150,000 pods that are all different stays below it.
PART_CACHE_ENTRIES: Final = 1 << 19

Requirements = tuple[Resources | None, Resources]
"""Requests (None where there is no such field) and limits."""

NULL: Final = b"null"

T = TypeVar("T")
KeyT = TypeVar("KeyT", bound=Hashable)

_QUANTITIES: Final = msgspec.json.Decoder(Quantities)
_REQUIREMENTS: Final = msgspec.json.Decoder(ResourceRequirements)
_IMAGES: Final = msgspec.json.Decoder(tuple[ContainerImage, ...])


class Parts:
    """Converted parts by their bytes, and the one object for each pod spec.

    What only scores read (preferences of pods, images of nodes) is converted `with_preferences`.
    """

    __slots__ = (
        "_images",
        "_preferences",
        "_quantities",
        "_requirements",
        "_resizes",
        "_specs",
        "_specs_by_parts",
        "with_preferences",
    )

    def __init__(self, *, with_preferences: bool = False) -> None:
        self.with_preferences = with_preferences
        self._images: dict[bytes, tuple[Image, ...]] = {}
        self._preferences: dict[Hashable, Preferences] = {}
        self._quantities: dict[bytes, Resources] = {}
        self._requirements: dict[bytes, Requirements] = {}
        self._resizes: dict[Hashable, Resize | None] = {}
        self._specs_by_parts: dict[Hashable, PodSpec] = {}
        self._specs: dict[PodSpec, PodSpec] = {}

    def quantities(self, raw: Raw, path: str) -> Resources:
        """Return a map of quantities as resources; absent and null are empty."""
        text = bytes(raw)
        found = self._quantities.get(text)
        if found is None:
            found = resources(decoded(text, _QUANTITIES, path=path) if is_given(text) else {}, path)
            _remember(self._quantities, text, found)
        return found

    def requirements(self, raw: Raw, path: str) -> Requirements:
        """Return (requests, limits) of a `resources` object."""
        text = bytes(raw)
        found = self._requirements.get(text)
        if found is None:
            found = _requirements(text, path) if is_given(text) else (None, ())
            _remember(self._requirements, text, found)
        return found

    def spec(self, key: Hashable, make: Callable[[], PodSpec]) -> PodSpec:
        """Return the one spec for these parts, made at first sight and shared by equal specs."""
        found = self._specs_by_parts.get(key)
        if found is None:
            made = make()
            found = self._specs.get(made, made)
            _remember(self._specs, made, found)
            _remember(self._specs_by_parts, key, found)
        return found

    def preferences(self, key: Hashable, make: Callable[[], Preferences]) -> Preferences:
        """Return the preferences for these parts, made at first sight."""
        found = self._preferences.get(key)
        if found is None:
            found = make()
            _remember(self._preferences, key, found)
        return found

    def images(self, raw: Raw, path: str) -> tuple[Image, ...]:
        """Return the images of a node, none if nobody wants to know."""
        if not self.with_preferences or not is_given(raw):
            return ()
        text = bytes(raw)
        found = self._images.get(text)
        if found is None:
            read = decoded(text, _IMAGES, path=path)
            found = tuple(Image(each.names, each.size_bytes) for each in read)
            _remember(self._images, text, found)
        return found

    def resize(self, key: Hashable, make: Callable[[], Resize | None]) -> Resize | None:
        """Return the resize for these parts, made at first sight."""
        found = self._resizes.get(key, ...)
        if found is ...:
            found = make()
            _remember(self._resizes, key, found)
        return found


def is_given(raw: Raw | bytes) -> bool:
    """Return whether a raw part is there and not null, which the API takes for absent."""
    return bytes(raw) not in {b"", NULL}


def decoded(raw: Raw | bytes, decoder: msgspec.json.Decoder[T], *, path: str = "") -> T:
    """Decode one part or object, or raise MalformedObject with its full path.

    The API reads a null as an absent field everywhere; we do so only where it is in the way.
    """
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError:
        value = without_nulls(plain(raw))
    try:
        return decoder.decode(msgspec.json.encode(value))
    except msgspec.ValidationError as fault:
        complaint = malformed(fault, value)
        raise (complaint.within(path) if path else complaint) from fault


def plain(raw: Raw | bytes) -> Any:
    """Decode without a type; a number beyond all bounds stays text, so that it harms nobody."""
    return _PLAIN.decode(raw)


def _bounded(text: str) -> float | Raw:
    number = float(text)
    return number if math.isfinite(number) else Raw(text.encode())


_PLAIN: Final = msgspec.json.Decoder(float_hook=_bounded)


def without_nulls(value: object) -> object:
    """Return plain data without the fields that are null."""
    match value:
        case dict():
            return {key: without_nulls(each) for key, each in value.items() if each is not None}
        case list():
            return [without_nulls(each) for each in value]
        case _:
            return value


def resources(read: Quantities, path: str) -> Resources:
    """Return the quantities sorted by name, or raise MalformedObject for the first malformed one."""
    try:
        return tuple(sorted([(name, quantity.from_json(each)) for name, each in read.items()]))
    except quantity.MalformedQuantity:
        raise _malformed_quantity(read, path) from None


def _requirements(text: bytes, path: str) -> Requirements:
    read = decoded(text, _REQUIREMENTS, path=path)
    requests = None if read.requests is None else resources(read.requests, f"{path}.requests")
    return requests, resources(read.limits or {}, f"{path}.limits")


def _malformed_quantity(read: Quantities, path: str) -> MalformedObject:
    for name, each in read.items():
        try:
            quantity.from_json(each)
        except quantity.MalformedQuantity as fault:
            return MalformedObject(
                f'{path}["{name}"]',
                f'"{fault.text}" is not a quantity; write one like 500m or 16Gi.',
            )
    raise AssertionError("called for a map without a malformed quantity")


def _remember(cache: dict[KeyT, T], key: KeyT, value: T) -> None:
    if len(cache) >= PART_CACHE_ENTRIES:
        cache.clear()
    cache[key] = value
