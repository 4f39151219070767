"""What the fields of all objects share, and how fields are read."""

from typing import TypeAlias

from msgspec import Raw, Struct, field

ABSENT = Raw()


Quantities: TypeAlias = dict[str, str | int | float]


class Read(Struct, frozen=True, rename="camel", gc=False):
    """Whatever we read from an object."""


class OwnerReference(Read, frozen=True):
    """Who made an object; one of them is its controller."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class Metadata(Read, frozen=True):
    """The part that all objects share."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()
    # Manifests made from types carry an explicit null here.
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None


class Condition(Read, frozen=True):
    """One condition of a pod or a job."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class Present(Read, frozen=True):
    """An object of which only its presence counts."""
