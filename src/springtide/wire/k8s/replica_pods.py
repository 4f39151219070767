"""Pods as members of a workload: what a pod says by itself, and what the process in it has written on it.

A process writes two labels and one annotation on its own pod. The annotation says of which run of the
container it is, by how often the container had been restarted, so that what an earlier run wrote counts no
longer once it is known that the container was started again.
"""

import re
import zlib
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from springtide.model.replicas.member import READY_LABEL, TARGET_LABEL, Member
from springtide.model.replicas.ordinals import ORDINAL_LABEL, pod_index, pod_ordinal
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s.parts import decoded

ANNOTATION: Final = "springtide.io/replica"
COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_COST_TEXT: Final = re.compile(r"[-+]?[0-9]{1,10}")
_RUNNING: Final = "Running"
_PENDING: Final = "Pending"
_OVER: Final = frozenset({"Succeeded", "Failed"})

Texts = dict[str, str]


class Numbering(msgspec.Struct, frozen=True, kw_only=True):
    """How pods get numbers and addresses; names hold ordinals only in workloads that give them."""

    target: str
    ordinals_start: int = 0
    has_ordinal_names: bool = True
    port: int = 0


class Written(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The annotation. `restarts` tells the run that wrote it; who `has_left` is no member any more."""

    restarts: int
    boot: str
    id: int = 0
    has_ordinal: bool = False
    index: int | None = None
    started_ms: int = 0
    is_stopping: bool = False
    service: str = ""
    target: str = ""
    address: str = ""
    labels: Texts = {}
    has_left: bool = False


class ReplicaPod(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a pod; `is_running` is about the containers, as far as anybody knows."""

    name: str
    uid: str
    phase: str
    ip: str = ""
    ordinal_label: str = ""
    restarts: int = 0
    is_running: bool = True
    is_ending: bool = False
    is_ready: bool = False
    deletion_cost: int = 0
    labels: Texts = {}
    annotation: str = ""

    @property
    def written(self) -> Written | None:
        """Return the annotation, None if there is none that can be read."""
        try:
            return _WRITTEN.decode(self.annotation) if self.annotation else None
        except (msgspec.DecodeError, ValueError):
            return None

    def address_at(self, port: int) -> str:
        """Return where others reach it, empty as long as it has no address."""
        if not (self.ip and port):
            return self.ip
        return f"[{self.ip}]:{port}" if ":" in self.ip else f"{self.ip}:{port}"


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    uid: str = ""
    deletion_timestamp: str = ""
    labels: Texts = {}
    annotations: Texts = {}


class _State(msgspec.Struct, frozen=True):
    running: dict[str, Any] | None = None


class _Container(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    restart_count: int = 0
    state: _State = _State()


class _Condition(msgspec.Struct, frozen=True):
    type: str = ""
    status: str = ""


class _Status(msgspec.Struct, frozen=True):
    phase: str = ""
    conditions: tuple[_Condition, ...] = ()
    pod_ip: str = msgspec.field(default="", name="podIP")
    containers: tuple[_Container, ...] = msgspec.field(default=(), name="containerStatuses")


class _Pod(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    status: _Status = _Status()


_READY: Final = _Condition("Ready", "True")
_POD: Final = msgspec.json.Decoder(_Pod)
_WRITTEN: Final = msgspec.json.Decoder(Written)


def decode_replica_pod(data: bytes | msgspec.Raw, *, container: str = "") -> ReplicaPod:
    """Read a Pod object, or raise MalformedObject; only the container counts, or all if none is named."""
    read = decoded(data, _POD)
    metadata, status = read.metadata, read.status
    if not metadata.name:
        raise MalformedObject("metadata.name", "the pod has no name; give it one.")
    ours = [each for each in status.containers if container in ("", each.name)]
    labels = {key: metadata.labels.get(key, "") for key in (TARGET_LABEL, READY_LABEL)}
    return ReplicaPod(
        name=metadata.name,
        uid=metadata.uid,
        phase=status.phase,
        ip=status.pod_ip,
        ordinal_label=metadata.labels.get(ORDINAL_LABEL, ""),
        restarts=sum(each.restart_count for each in ours),
        is_running=not ours or any(each.state.running is not None for each in ours),
        is_ending=bool(metadata.deletion_timestamp),
        is_ready=any(each == _READY for each in status.conditions),
        deletion_cost=_cost(metadata.annotations.get(COST, "")),
        labels=labels,
        annotation=metadata.annotations.get(ANNOTATION, ""),
    )


def member_of(pod: ReplicaPod, numbering: Numbering) -> Member | None:
    """Return the member in a pod; None if there is nobody in it yet, or no longer."""
    written = pod.written
    is_of_this_run = written is not None and written.restarts == pod.restarts
    if pod.phase in _OVER or (written is not None and written.has_left and is_of_this_run):
        return None
    if pod.phase != _RUNNING and written is None:
        return None
    # Who writes does run, whatever has been reported of it so far.
    is_started = pod.phase == _RUNNING or (pod.phase == _PENDING and is_of_this_run)
    member = (
        _written_member(pod, written)
        if written and is_of_this_run
        else unwritten_member(pod, numbering)
    )
    # What a run before this one wrote about itself is no longer so.
    counts = written is None or is_of_this_run
    return replace(
        member,
        is_target=counts and pod.labels[TARGET_LABEL] == "1",
        is_ready=counts and pod.labels[READY_LABEL] == "1",
        is_stopping=member.is_stopping or pod.is_ending,
        is_pod_ready=pod.is_ready,
        deletion_cost=pod.deletion_cost,
        is_alive=is_started and pod.is_running and not pod.is_ending,
        address=member.address or pod.address_at(numbering.port),
    )


def _written_member(pod: ReplicaPod, written: Written) -> Member:
    return Member(
        id=written.id,
        name=pod.name,
        has_ordinal=written.has_ordinal,
        started_ms=written.started_ms,
        is_stopping=written.is_stopping,
        index=written.index,
        boot=written.boot,
        service=written.service,
        target=written.target,
        address=written.address,
        labels=written.labels,
    )


def unwritten_member(pod: ReplicaPod, numbering: Numbering) -> Member:
    """Return what is known of a pod whose process has not written anything yet."""
    name = pod.name if numbering.has_ordinal_names else ""
    ordinal = pod_ordinal(name, pod_index_label=pod.ordinal_label)
    start = numbering.ordinals_start
    return Member(
        id=member_id(pod.name, ordinal),
        name=pod.name,
        has_ordinal=ordinal is not None,
        index=pod_index(name, ordinals_start=start, pod_index_label=pod.ordinal_label),
        boot=f"{pod.uid}/{pod.restarts}",
        target=numbering.target,
        address=pod.address_at(numbering.port),
    )


def _cost(text: str) -> int:
    """Return what it costs to delete a pod; controllers take none where it is no number."""
    return int(text) if _COST_TEXT.fullmatch(text) else 0


def member_id(name: str, ordinal: int | None) -> int:
    """Return the id of a member: its ordinal, or else a number that always comes of its name."""
    return zlib.crc32(name.encode()) if ordinal is None else ordinal


def changes(pod: ReplicaPod, member: Member, *, has_left: bool = False) -> tuple[Texts, Texts]:
    """Return the labels and annotations that have to be written so that the pod says what the member is."""
    is_target, is_ready = (not has_left and each for each in (member.is_target, member.is_ready))
    labels = {TARGET_LABEL: "1" if is_target else "0", READY_LABEL: "1" if is_ready else "0"}
    annotation = _annotation(pod, member, has_left=has_left)
    due = {key: value for key, value in labels.items() if pod.labels[key] != value}
    return due, {ANNOTATION: annotation} if pod.annotation != annotation else {}


def _annotation(pod: ReplicaPod, member: Member, *, has_left: bool) -> str:
    written = Written(
        restarts=pod.restarts,
        boot=member.boot,
        id=member.id,
        has_ordinal=member.has_ordinal,
        index=member.index,
        started_ms=member.started_ms,
        is_stopping=member.is_stopping,
        service=member.service,
        target=member.target,
        address=member.address,
        labels=member.labels,
        has_left=has_left,
    )
    return msgspec.json.encode(written, order="deterministic").decode()
