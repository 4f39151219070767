"""What is asked of sessions and estimates: the bodies of the calls under `/v1`.

Unknown fields are errors, since a misspelt one that is passed over would give a wrong answer. Objects of
Kubernetes within them are whole objects, as the API server has them; of those unknown fields are ignored.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, Raw

from springtide.wire.errors import DocumentFault
from springtide.wire.extender.walking import Buffer
from springtide.wire.validation import malformed

OperationId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=128,
        description="Names this change. The same id with the same body gets the first answer again; "
        "with another body it is a conflict.",
    ),
]
Count = Annotated[int, Meta(ge=1)]
Node = Annotated[Raw, Meta(description="A Node object, as the API server has it.")]
Pod = Annotated[Raw, Meta(description="A Pod object, as the API server has it.")]


class DynamicFields(StrEnum):
    """What becomes of what a copied registration says of one node alone: ids, health, cordons."""

    RESET = "reset"
    KEEP = "keep"


class EstimateRules(StrEnum):
    """What an estimate looks at: devices and all rules of kube-scheduler, or devices alone."""

    ALL = "all"
    DEVICES = "devices"


class _Body(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A part of a call in which every field counts."""


class Copies(_Body, frozen=True, kw_only=True):
    """Copies of one template: `count` nodes, named after it or `namePrefix`, `-<number>` behind it."""

    template: Node
    count: Count = 1
    name_prefix: str = ""
    first_number: Annotated[int, Meta(ge=0)] = 0


class OpenSession(_Body, frozen=True, kw_only=True):
    """Opens a session on these nodes; `dynamicFields` holds for nodes that are added later, too."""

    operation_id: OperationId
    nodes: tuple[Node, ...] = ()
    copies: tuple[Copies, ...] = ()
    lease_seconds: Annotated[float, Meta(gt=0)] | None = None
    dynamic_fields: DynamicFields = DynamicFields.RESET


class Evaluate(_Body, frozen=True, kw_only=True):
    """Asks which nodes take each of these pods by itself, of all nodes unless some are named.

    `allocations` asks for the annotations that the pod would get, too, on every node that fits.
    """

    pods: Annotated[tuple[Pod, ...], Meta(min_length=1)]
    nodes: tuple[str, ...] | None = None
    allocations: bool = False


class Change(_Body, frozen=True, kw_only=True):
    """Changes a session: `fork`, `revert` and `commit` say no more than that."""

    operation_id: OperationId
    if_revision: Annotated[
        int | None, Meta(description="The change is made at this revision only.")
    ] = None


class Placing(_Body, frozen=True, kw_only=True):
    """A pod, and the node that it is to be placed on."""

    pod: Pod
    node: str


class Place(Change, frozen=True, kw_only=True):
    """Places pods, one after the other; with `allOrNothing` none unless all of them fit."""

    pods: Annotated[tuple[Placing, ...], Meta(min_length=1)]
    all_or_nothing: bool = False


class Remove(Change, frozen=True, kw_only=True):
    """Takes pods away, by uid."""

    pods: Annotated[tuple[str, ...], Meta(min_length=1)]


class AddNodes(Change, frozen=True, kw_only=True):
    """Adds nodes."""

    nodes: tuple[Node, ...] = ()
    copies: tuple[Copies, ...] = ()


class RemoveNodes(Change, frozen=True, kw_only=True):
    """Takes nodes away, by name, with the pods on them."""

    nodes: Annotated[tuple[str, ...], Meta(min_length=1)]


class EstimateTemplate(_Body, frozen=True, kw_only=True):
    """What one more node of a group would be, and how many there may be; 0 does not bound."""

    node: Node
    name: str = ""
    nodes_max: Annotated[int, Meta(ge=0)] = 0


class PodGroup(_Body, frozen=True, kw_only=True):
    """So many pods that are equal to this one."""

    pod: Pod
    count: Count = 1


class Estimate(_Body, frozen=True, kw_only=True):
    """Asks how many nodes of each template these pods would need, each template by itself."""

    templates: Annotated[tuple[EstimateTemplate, ...], Meta(min_length=1)]
    pods: Annotated[tuple[PodGroup, ...], Meta(min_length=1)]
    nodes_max: Annotated[int, Meta(ge=0)] = 0
    rules: EstimateRules = EstimateRules.ALL
    dynamic_fields: DynamicFields = DynamicFields.RESET


CALLS: Mapping[str, type[msgspec.Struct]] = {
    "open": OpenSession,
    "evaluate": Evaluate,
    "place": Place,
    "remove": Remove,
    "addNodes": AddNodes,
    "removeNodes": RemoveNodes,
    "fork": Change,
    "revert": Change,
    "commit": Change,
    "estimate": Estimate,
}
"""Every call that has a body, by its name."""

CallT = TypeVar("CallT", bound=msgspec.Struct)


class InvalidBody(DocumentFault):
    """The body of a call is not what it should be; `field` is where, empty for the whole body."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}" if field else f"the body: {reason}")
        self.field = field


def read_body(data: Buffer, of: type[CallT]) -> CallT:
    """Return the body of a call, or raise InvalidBody for its first fault."""
    try:
        return msgspec.json.decode(data, type=of)
    except msgspec.ValidationError as fault:
        # Objects may be large, and stay undecoded: only where something is wrong it is looked for.
        found = malformed(fault, _plain(data))
        raise InvalidBody(found.field, found.reason) from fault
    except _UNREADABLE as fault:
        raise _unreadable(fault) from fault


_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def _plain(data: Buffer) -> object:
    """Return a body as plain data: what is wrong in the beginning may not be all that is."""
    try:
        return msgspec.json.decode(data)
    except _UNREADABLE as fault:
        raise _unreadable(fault) from fault


def _unreadable(fault: Exception) -> InvalidBody:
    return InvalidBody("", f"this is not JSON: {fault}; send one JSON object.")
