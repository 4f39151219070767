"""The fields of classes that pods name."""

from msgspec import Raw, field

from springtide.base.taints import Toleration
from springtide.wire.k8s.schema.shared import ABSENT, Metadata, Read


class PriorityClass(Read, frozen=True, tag="PriorityClass", tag_field="kind"):
    """A priority by name."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    value: int = 0
    global_default: bool = False
    preemption_policy: str = ""


class Overhead(Read, frozen=True):
    """What a runtime needs beside the containers."""

    pod_fixed: Raw = ABSENT


class RuntimeScheduling(Read, frozen=True):
    """Which nodes support a runtime."""

    node_selector: dict[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()


class RuntimeClass(Read, frozen=True, tag="RuntimeClass", tag_field="kind"):
    """A container runtime by name."""

    api_version: str = ""
    metadata: Metadata = Metadata()
    overhead: Overhead = Overhead()
    scheduling: RuntimeScheduling = RuntimeScheduling()
