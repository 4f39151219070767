"""Whole sources as one input: every document found, every object routed by its kind.

A source holds JSON or YAML, one document or many. API objects become model records, our own
documents are read strictly, configurations of other programs are recognised, and everything else is
counted and left alone. One broken API object is a `Problem`; a document that cannot be read, or one
of ours that says what cannot be, is a fault that names file, line and field.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from springtide.model.disruption import DisruptionBudget
from springtide.model.gang import PodGroup
from springtide.model.group import NodeGroup, PriorityRules
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.problem import Problem
from springtide.model.profile import DeviceProfile
from springtide.model.quotas import NamespaceQuota
from springtide.model.resource_claims import DeviceObjects
from springtide.model.selecting import Selecting
from springtide.model.storage import Storage
from springtide.model.workload import DaemonSet
from springtide.wire import configurations, priorities, yaml
from springtide.wire.errors import MalformedDocument, MalformedObject
from springtide.wire.json_faults import end_of_first, malformed_json
from springtide.wire.k8s.kinds import LIST_DECODER, group_of, label, reads
from springtide.wire.k8s.objects import Objects
from springtide.wire.k8s.parts import is_given, plain, without_nulls
from springtide.wire.k8s.schema import ABSENT
from springtide.wire.origin import Origin
from springtide.wire.ours import GROUP, KINDS, Ours
from springtide.wire.source import Source
from springtide.wire.text import is_json, next_document, utf8

DEVICE_CONFIG: Final = "device configuration"
"""What HAMi's device configuration is called; it has no name of its own."""


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """All that a set of sources says.

    `pods` are stored pods as they stand; `manifests` are pods that no API server has seen, with its
    defaults filled in but without those of device families. `namespaces` maps names to labels.
    `scheduler` is None where no scheduler configuration was given. `raws` has nodes and unbound pods
    (for those of workloads, the template) as they were written, if they are kept. `sources` says where each object
    stands, by `Node/name`, `Pod/namespace/name`, `NodeGroup/name` and so on. `counts` counts all
    objects by kind, `ignored` those of them that are of no use here, `notes` are sentences about what
    was left out on purpose.
    """

    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    manifests: tuple[Pod, ...] = ()
    daemon_sets: tuple[DaemonSet, ...] = ()
    storage: Storage = Storage()
    device_objects: DeviceObjects = DeviceObjects()
    selecting: Selecting = Selecting()
    namespaces: Mapping[str, Mapping[str, str]] = {}
    budgets: tuple[DisruptionBudget, ...] = ()
    quotas: tuple[NamespaceQuota, ...] = ()
    pod_groups: tuple[PodGroup, ...] = ()
    groups: tuple[NodeGroup, ...] = ()
    priorities: PriorityRules | None = None
    profiles: tuple[DeviceProfile, ...] = ()
    device_config: Mapping[str, object] | None = None
    scheduler: configurations.Given | None = None
    raws: Mapping[str, msgspec.Raw] = {}
    sources: Mapping[str, str] = {}
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    counts: Mapping[str, int] = {}
    ignored: Mapping[str, int] = {}


def decode(sources: Sequence[Source], *, keeps_raws: bool = False) -> Input:
    """Read all sources into one input, or raise a DocumentFault.

    Keeping objects as they were written takes longer, since no list is read in one pass then.
    """
    reading = _Reading(keeps_raws=keeps_raws)
    for source in sources:
        reading.take(source)
    return reading.finish()


class _Header(msgspec.Struct, frozen=True, rename="camel"):
    """What decides where an object goes."""

    api_version: str = ""
    kind: str = ""
    items: msgspec.Raw = ABSENT


_NOTHING: Final = _Header()
_HEADER: Final = msgspec.json.Decoder(_Header)
_ITEMS: Final = msgspec.json.Decoder(tuple[msgspec.Raw, ...])
_YAML_NAMES: Final = (".yaml", ".yml", ".yaml.gz", ".yml.gz")
_NO_KIND: Final = "there is no kind; add apiVersion and kind."


class _Reading:
    """Takes sources one after the other, and says at the end what they amount to."""

    def __init__(self, *, keeps_raws: bool) -> None:
        self._keeps_raws = keeps_raws
        self._objects = Objects(keeps_raws=keeps_raws)
        self._ours = Ours()
        self._device_config: Mapping[str, object] | None = None
        self._scheduler: configurations.Given | None = None
        self._priorities: PriorityRules | None = None

    def take(self, source: Source) -> None:
        """Read one source, JSON or YAML or one after the other."""
        data, first_line = utf8(source.data), 1
        while data:
            if not is_json(data):
                return self._take_yaml(data, source.name)
            try:
                end = self._take_json(data, source.name, first_line)
            except MalformedDocument:
                # A flow mapping starts like JSON.
                if not source.name.endswith(_YAML_NAMES):
                    raise
                return self._take_yaml(data, source.name)
            if end == len(data):
                return None
            first_line += data.count(b"\n", 0, end)
            data = data[end:]
        return None

    def finish(self) -> Input:
        """Return all that was said."""
        objects, ours = self._objects, self._ours
        objects.finish()
        nodes = tuple(objects.nodes.values())
        profiles, problems = ours.usable_profiles(nodes)
        return Input(
            nodes=nodes,
            pods=tuple(objects.pods.values()),
            manifests=tuple(objects.manifests.values()),
            daemon_sets=tuple(objects.daemon_sets.values()),
            storage=objects.storage,
            device_objects=objects.device_objects,
            selecting=objects.selecting,
            namespaces=objects.namespaces,
            budgets=tuple(objects.budgets.values()),
            quotas=tuple(objects.quotas.values()),
            pod_groups=objects.pod_groups,
            groups=tuple(ours.groups.values()),
            priorities=self._priorities,
            profiles=profiles,
            device_config=self._device_config,
            scheduler=self._scheduler,
            raws=objects.raws,
            sources={**objects.sources, **ours.sources},
            problems=(*objects.problems, *ours.problems, *problems),
            notes=_notes(objects.ignored),
            counts=dict(sorted((objects.read + objects.ignored).items())),
            ignored=dict(sorted(objects.ignored.items())),
        )

    def _take_yaml(self, data: bytes, source: str) -> None:
        for document in yaml.documents(data, source):
            origin = Origin(source=source, document=document)
            if not isinstance(document.value, dict):
                raise origin.fault((), "the document is not a map; a Kubernetes object is one.")
            self._document(msgspec.json.encode(document.value), origin)

    def _take_json(self, data: bytes, source: str, first_line: int) -> int:
        """Read the first JSON text, and return where the next one starts."""
        origin = Origin(source=source)
        try:
            self._document(data, origin)
        except (msgspec.DecodeError, RecursionError) as fault:
            end = end_of_first(fault)
            start = None if end is None else next_document(data, end)
            if start is None:
                raise malformed_json(fault, data, source=source, first_line=first_line) from fault
            self._document(data[:end], origin)
            return start
        return len(data)

    def _document(self, data: bytes, origin: Origin) -> None:
        """Read one document: a list in one pass if that works, everything else by its kind."""
        if self._keeps_raws:
            self._route(data, origin)
            return
        try:
            listed = LIST_DECODER.decode(data)
        except msgspec.ValidationError:
            self._route(data, origin)
            return
        if listed.kind.endswith("List"):
            self._objects.add_list(listed, origin.label)
        else:
            self._route(data, origin)

    def _route(
        self, data: bytes | msgspec.Raw, origin: Origin, *, assumed: _Header = _NOTHING
    ) -> None:
        header = self._header(data, origin)
        kind, version = header.kind or assumed.kind, header.api_version or assumed.api_version
        group = group_of(version)
        if kind.endswith("List") and bytes(header.items):
            self._take_items(header, origin)
        elif reads(group, kind):
            self._objects.add_raw(
                data, group=group, kind=kind, source=origin.label, at=origin.place
            )
        elif group == GROUP or (kind in KINDS and not version):
            self._objects.read[kind] += 1
            self._ours.take(_whole(without_nulls(plain(data)), kind, version), kind, origin)
        else:
            self._take_configuration(data, group, kind, origin)

    def _header(self, data: bytes | msgspec.Raw, origin: Origin) -> _Header:
        try:
            return _HEADER.decode(data)
        except msgspec.ValidationError as fault:
            reason = "this is not an object with a kind; write one, or a List of them."
            raise origin.fault((), reason) from fault

    def _take_items(self, header: _Header, origin: Origin) -> None:
        # The items of a NodeList carry no kind of their own.
        kind = header.kind.removesuffix("List")
        assumed = _Header(api_version=header.api_version if kind else "", kind=kind)
        items = _ITEMS.decode(header.items) if is_given(header.items) else ()
        for index, item in enumerate(items):
            self._route(item, origin.item(index), assumed=assumed)

    def _take_configuration(
        self, data: bytes | msgspec.Raw, group: str, kind: str, origin: Origin
    ) -> None:
        match group, kind:
            case configurations.SCHEDULER_GROUP, configurations.SCHEDULER_KIND:
                self._objects.read[kind] += 1
                self._add_scheduler(bytes(data), origin)
            case "", "ConfigMap" if self._take_config_map(plain(data), origin):
                self._objects.read[kind] += 1
            case _, "":
                self._take_kindless(plain(data), origin)
            case _:
                self._objects.ignore(kind)

    def _take_kindless(self, value: Mapping[str, object], origin: Origin) -> None:
        if configurations.is_device_config(value):
            self._add_device_config(value, origin)
        elif origin.path:
            self._objects.problem(origin.label, origin.place, MalformedObject("kind", _NO_KIND))
        else:
            raise origin.fault((), _NO_KIND)

    def _take_config_map(self, value: Any, origin: Origin) -> bool:
        """Return whether an entry of the ConfigMap is a configuration that we read."""
        name = label("ConfigMap", value, origin.place)
        has_found = self._take_priorities(value, name, origin)
        for key, text in configurations.embedded(value):
            inner = f"{origin.label} ({name}, {key})"
            try:
                embedded = yaml.documents(text.encode(), inner)
            except MalformedDocument as fault:
                self._objects.problem(
                    origin.label, name, MalformedObject(f'data["{key}"]', str(fault))
                )
                continue
            for document in embedded:
                has_found |= self._take_embedded(document, inner)
        return has_found

    def _take_priorities(self, value: Any, name: str, origin: Origin) -> bool:
        text = priorities.text_of(value)
        if text is None:
            return False
        try:
            rules = priorities.read(text)
        except MalformedObject as fault:
            self._objects.problem(origin.label, name, fault)
            return True
        self._priorities = self._priorities or rules
        if self._priorities != rules:
            reason = "other priorities are given as well, and the first ones count. Give one text."
            self._objects.problem(origin.label, name, MalformedObject(priorities.FIELD, reason))
        return True

    def _take_embedded(self, document: yaml.Document, source: str) -> bool:
        origin, value = Origin(source=source, document=document), document.value
        if not isinstance(value, dict):
            return False
        if value.get("kind") == configurations.SCHEDULER_KIND:
            self._add_scheduler(msgspec.json.encode(value), origin)
            return True
        if configurations.is_device_config(value):
            self._add_device_config(value, origin)
            return True
        return False

    def _add_scheduler(self, data: bytes, origin: Origin) -> None:
        # Few inputs have one, and every start would pay for loading what reads it.
        from springtide.wire import kubescheduler  # noqa: PLC0415

        given = kubescheduler.read(data, origin=origin)
        if self._scheduler is None:
            self._scheduler = given
        elif self._scheduler.configuration != given.configuration:
            reason = (
                "a second scheduler configuration differs; the first one counts, from "
                f"{self._scheduler.origin.label}. Give only one."
            )
            name = configurations.SCHEDULER_KIND
            self._objects.problem(origin.label, name, MalformedObject("", reason))

    def _add_device_config(self, value: Mapping[str, object], origin: Origin) -> None:
        if self._device_config is None:
            self._device_config = value
            self._objects.sources[DEVICE_CONFIG] = origin.label
        elif self._device_config != value:
            reason = "a second device configuration differs; the first one counts. Give only one."
            self._objects.problem(origin.label, DEVICE_CONFIG, MalformedObject("", reason))


def _whole(value: object, kind: str, version: str) -> object:
    """Return an object with what its list says of its items."""
    said = {"apiVersion": version, "kind": kind} if version else {}
    return {**said, **value} if isinstance(value, dict) else value


def _notes(ignored: Mapping[str, int]) -> tuple[str, ...]:
    count = ignored.get("CronJob", 0)
    if not count:
        return ()
    what = "1 CronJob is" if count == 1 else f"{count} CronJobs are"
    return (f"{what} not looked at; to plan for what it starts, give the Job.",)
