"""The records of DeviceProfile documents, from which their definition for API servers is generated, too."""

from typing import Annotated, Final, Literal

import msgspec

from springtide.model.profile import Homogeneity, OnMismatch
from springtide.wire.crd.device_schema import Entries
from springtide.wire.crd.fields import MISMATCHES_MAX, rule, told
from springtide.wire.crd.selector import SELECTOR_RULE, NodeSelector

API_VERSION: Final = "springtide.io/v1alpha1"
KIND: Final = "DeviceProfile"
DURATION_CHARS_MAX: Final = 64
TEXT_CHARS_MAX: Final = 32768

_TIMEOUT_RULE: Final = rule(
    "duration(self) > duration('0s')", "this is not a duration above 0; write one like 10m."
)


class ProfileMetadata(msgspec.Struct, frozen=True):
    """The name of the profile, and what counts where it is stored; such objects carry much more."""

    name: str
    uid: str = ""
    generation: int = 0
    resource_version: str = msgspec.field(default="", name="resourceVersion")


class ProfileSpec(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """What the profile says."""

    node_selector: Annotated[
        NodeSelector, told("Which nodes and templates of nodes it describes.", SELECTOR_RULE)
    ]
    devices: Annotated[Entries, msgspec.Meta(extra_json_schema={"minItems": 1})]
    homogeneity: Annotated[
        Homogeneity,
        told(
            "What several nodes must agree on before one stands for all: Strict, everything; "
            "Minimum, the weakest device in each position; Majority, what more than half of them have."
        ),
    ] = Homogeneity.STRICT
    on_mismatch: Annotated[
        OnMismatch,
        told(
            "What becomes of a node with fewer, weaker or other devices: Quarantine taints it, Report "
            "tells of it, Adopt takes what it registers for the truth."
        ),
    ] = OnMismatch.QUARANTINE
    registration_timeout: Annotated[
        str,
        told(
            "So long a node may be Ready without its devices registered.",
            _TIMEOUT_RULE,
            maxLength=DURATION_CHARS_MAX,
        ),
    ] = "10m"


class ConditionEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that is said of the profile."""

    type: Annotated[str, told("Valid, Verified or Degraded.", maxLength=316)]
    status: Annotated[str, told("Whether it is so.", enum=["True", "False", "Unknown"])]
    observed_generation: Annotated[int, told("The generation that it is about.", minimum=0)] = 0
    last_transition_time: Annotated[
        str, told("Since when its status is what it is.", format="date-time")
    ] = ""
    reason: Annotated[str, told("Why, in one word.", maxLength=1024)] = ""
    message: Annotated[str, told("Why, in a sentence.", maxLength=TEXT_CHARS_MAX)] = ""


class MismatchEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One node that is not as the profile promised."""

    node: Annotated[str, told("Its name.", maxLength=253)]
    reason: Annotated[str, told("Why, in one word.", maxLength=1024)]
    message: Annotated[str, told("What differs, in a sentence.", maxLength=TEXT_CHARS_MAX)] = ""


class LastVerified(msgspec.Struct, frozen=True, kw_only=True):
    """The devices of the nodes that were last verified."""

    devices: Entries = ()
    generation: Annotated[
        int | None, told("The generation of the profile that they were compared with.", minimum=0)
    ] = None


class ProfileStatusEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the controller has found out."""

    observed_generation: Annotated[int, told("The generation that it has looked at.")] = 0
    conditions: Annotated[
        tuple[ConditionEntry, ...],
        msgspec.Meta(
            description="Valid, Verified and Degraded, each with its reason.",
            extra_json_schema={
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
                "maxItems": 16,
            },
        ),
    ] = ()
    observed_nodes: Annotated[int, told("How many nodes the profile describes.")] = 0
    verified_nodes: Annotated[int, told("How many of them register what it promises.")] = 0
    mismatched_nodes: Annotated[int, told("How many of them do not.")] = 0
    mismatches: Annotated[
        tuple[MismatchEntry, ...],
        told("The first of those, by name.", maxItems=MISMATCHES_MAX),
    ] = ()
    last_verified: Annotated[
        LastVerified,
        told("What new nodes are expected to register since it was seen on real ones."),
    ] = LastVerified()


class ProfileDocument(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """The document as written."""

    api_version: Literal["springtide.io/v1alpha1"]
    kind: Literal["DeviceProfile"]
    metadata: ProfileMetadata
    spec: ProfileSpec
    status: ProfileStatusEntry = ProfileStatusEntry()
