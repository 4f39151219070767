"""The claims of one pod, prepared once for all nodes: classes looked up, names put together."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.engine.dynamic_resources.reading import words_read
from springtide.model.device_slices import DeviceClass
from springtide.model.resource_claims import (
    ClaimContent,
    ClaimRequest,
    DeviceConstraint,
    DeviceRequest,
    Exactly,
)

ALTERNATIVES_MAX: Final = 8
"""How many alternatives a request may have."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One form of a request. `name` is `request` or `request/alternative`; amounts are in nano.

    `worth` is what an alternative adds to a node's score: more the earlier it comes.
    """

    name: str
    request: DeviceRequest
    device_class: DeviceClass
    capacity: Mapping[str, int]
    worth: int = 0

    @property
    def selectors(self) -> tuple[str, ...]:
        """Return the expressions that a device must meet, those of the class first."""
        return self.device_class.selectors + self.request.selectors

    @property
    def last_name(self) -> str:
        """Return the name of the request, or of the alternative, by itself."""
        return self.name.rpartition("/")[2]


class WantedClaim(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A claim that is to be allocated: the forms of each request, in order, and the constraints.

    `text` names it in faults.
    """

    text: str
    requests: tuple[tuple[Wanted, ...], ...]
    constraints: tuple[DeviceConstraint, ...] = ()


def words_of(claims: Iterable[WantedClaim]) -> frozenset[str] | None:
    """Return words among which are the names of all attributes that claims read, None for any."""
    found: set[str] = set()
    for claim in claims:
        found.update(each.attribute.rpartition("/")[2] for each in claim.constraints)
        wanted = (each for forms in claim.requests for each in forms)
        for expression in (text for each in wanted for text in each.selectors):
            words = words_read(expression)
            if words is None:
                return None
            found |= words
    return frozenset(found)


class UnknownClass(Exception):
    """A request names a class that does not exist."""

    def __init__(self, request: str, name: str) -> None:
        super().__init__(f"request {request}: device class {name} does not exist")


def wanted_claim(
    text: str, content: ClaimContent, classes: Mapping[str, DeviceClass]
) -> WantedClaim:
    """Return the prepared claim, or raise UnknownClass."""
    return WantedClaim(
        text=text,
        requests=tuple(tuple(_forms(each, classes)) for each in content.requests),
        constraints=content.constraints,
    )


def _forms(asked: ClaimRequest, classes: Mapping[str, DeviceClass]) -> Iterable[Wanted]:
    if isinstance(asked, Exactly):
        yield _wanted(asked.request.name, asked.request, classes)
        return
    for index, each in enumerate(asked.alternatives):
        form = _wanted(f"{asked.name}/{each.name}", each, classes)
        yield replace(form, worth=ALTERNATIVES_MAX - index)


def _wanted(name: str, request: DeviceRequest, classes: Mapping[str, DeviceClass]) -> Wanted:
    device_class = classes.get(request.class_name)
    if device_class is None:
        raise UnknownClass(name, request.class_name)
    capacity = {key: amount.nano for key, amount in request.capacity}
    return Wanted(name=name, request=request, device_class=device_class, capacity=capacity)
