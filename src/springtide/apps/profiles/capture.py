"""Device profiles captured from nodes (device-profile contract, sections 2 and 3): input in, documents out.

Every ready node of a set that has registered devices is a sample, and what the samples agree on is
promised of the next one. Ids, health and use are left out. Nodes that do not agree give no profile but
the reason, with what differs on which nodes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from springtide.apps.planner.families import Policies
from springtide.apps.planner.setting import families_of
from springtide.apps.profiles.checking import registered
from springtide.base.errors import SpringtideError
from springtide.base.nearest import nearest
from springtide.base.selectors import (
    MalformedSelector,
    Selector,
    compile_selector,
    label_selector,
    parse_selector,
)
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.profiles.comparing import Registered
from springtide.engine.simulation.homogeneity import agreed
from springtide.engine.simulation.templates import members
from springtide.model.device import Inventory
from springtide.model.group import NodeGroup
from springtide.model.node import Node
from springtide.model.profile import FamilyDevices, Homogeneity, OnMismatch, unsayable
from springtide.model.refusal import Refusal
from springtide.wire.crd.profiles import read_device_profile
from springtide.wire.crd.writing import NotWritable, profile_object
from springtide.wire.documents import Input
from springtide.wire.errors import InvalidDocument
from springtide.wire.origin import Origin

INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
NAME_CHARS_MAX: Final = 253
ALONE: Final = "Capture these nodes by themselves, with -l and --name."


class NotCaptured(SpringtideError):
    """What was asked for makes no sense for this input; the message says what to ask for instead."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Which nodes to capture and how: those of a selector, of a group, or all of them by a label."""

    selector: str = ""
    group: str = ""
    by: str = INSTANCE_TYPE
    name: str = ""
    homogeneity: Homogeneity = Homogeneity.STRICT
    on_mismatch: OnMismatch = OnMismatch.QUARANTINE


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """The profiles as documents, each node set that gave none with the reason, and what to know besides."""

    documents: tuple[dict[str, Any], ...]
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class _Set(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes that one profile is to describe."""

    name: str
    selector: Selector
    nodes: tuple[Node, ...]


def run(found: Input, request: Request) -> Captured:
    """Return what was captured, or raise NotCaptured."""
    families = families_of(found, Policies())
    own = {node.name: registered(node, families) for node in found.nodes}
    sets, notes = _sets(found, request, own)
    documents: dict[str, dict[str, Any]] = {}
    refused = []
    for each in sets:
        samples = [(node.name, own[node.name]) for node in each.nodes if _is_sample(node, own)]
        answer = _agreed(each.name, samples, families, request.homogeneity) if samples else ()
        if not samples:
            refused.append(_unregistered(each))
        elif isinstance(answer, str):
            refused.append(f"{each.name}: {answer}. Select fewer nodes, or set --homogeneity.")
        elif each.name in documents:
            refused.append(f"{each.name}: {each.selector} would have the same name. {ALONE}")
        else:
            documents[each.name] = _document(each, answer, request)
            notes += _about(each, samples, found.nodes)
    return Captured(documents=(*documents.values(),), refused=tuple(refused), notes=tuple(notes))


def _unregistered(each: _Set) -> str:
    counted = "1 node" if len(each.nodes) == 1 else f"{len(each.nodes)} nodes"
    return (
        f"{each.name}: of {counted} none is ready and has registered devices that can be read. Wait for "
        "the device plugins, or select other nodes."
    )


def _is_sample(node: Node, own: Mapping[str, Registered]) -> bool:
    answers = own[node.name]
    return (
        node.is_ready
        and bool(answers)
        and all(isinstance(each, Inventory) for each in answers.values())
    )


# Which nodes


def _sets(
    found: Input, request: Request, own: Mapping[str, Registered]
) -> tuple[list[_Set], list[str]]:
    if request.selector and request.group:
        raise NotCaptured("-l and --group exclude each other: give one.")
    if request.selector:
        return [_selected(found.nodes, request)], []
    if request.group:
        return [_grouped(found, request)], []
    if request.name:
        raise NotCaptured("--name names one profile: say with -l or --group which nodes it is of.")
    return _labelled(found.nodes, request.by, own)


def _selected(nodes: Sequence[Node], request: Request) -> _Set:
    try:
        selector = parse_selector(request.selector)
    except MalformedSelector as fault:
        raise NotCaptured(f"-l: {fault.reason}; write it like pool=a.") from fault
    chosen = tuple(node for node in nodes if selector.matches(node.labels))
    if not chosen:
        raise NotCaptured(f'-l: no node has the labels "{request.selector}". Correct the selector.')
    values = [value for each in selector.requirements for value in each.values]
    name = request.name or _slug("-".join(values) or "nodes")
    return _Set(name=name, selector=selector, nodes=chosen)


def _grouped(found: Input, request: Request) -> _Set:
    group = next((each for each in found.groups if each.name == request.group), None)
    if group is None:
        known = [each.name for each in found.groups]
        close = nearest(request.group, known)
        offer = f"Did you mean {close}?" if close else "Name one with --groups FILE."
        raise NotCaptured(f'--group: no node group is called "{request.group}". {offer}')
    nodes = members(group, found.nodes)
    if not nodes:
        raise NotCaptured(f"The group {group.name} has no node to capture. Select others.")
    name = request.name or _slug(group.name)
    return _Set(name=name, selector=_selector_of(group, nodes, request.by), nodes=nodes)


def _selector_of(group: NodeGroup, nodes: Sequence[Node], by: str) -> Selector:
    """Return what selects the nodes of a group: its own selector, or the label that all of them share."""
    if group.selector is not None and not group.provider_id_pattern:
        return group.selector
    values = {node.labels.get(by, "") for node in nodes}
    if len(values) != 1 or "" in values:
        raise NotCaptured(
            f"The nodes of the group {group.name} do not share one value of the label {by}, by which the "
            "profile would select them. Name one that they share with --by."
        )
    return _by_label(by, values.pop())


def _labelled(
    nodes: Sequence[Node], by: str, own: Mapping[str, Registered]
) -> tuple[list[_Set], list[str]]:
    """Return the nodes with devices in sets of one value of a label."""
    sets: dict[str, list[Node]] = {}
    without = []
    for node in nodes:
        if not own[node.name]:
            continue
        value = node.labels.get(by, "")
        if value:
            sets.setdefault(value, []).append(node)
        else:
            without.append(node.name)
    if not sets:
        raise NotCaptured(
            f"No node with registered devices has the label {by}. Name another one with --by, or "
            "select nodes with -l."
        )
    notes = [f"{name} has no label {by} and is left out." for name in without]
    return [
        _Set(name=_slug(value), selector=_by_label(by, value), nodes=tuple(own_nodes))
        for value, own_nodes in sorted(sets.items())
    ], notes


def _by_label(label: str, value: str) -> Selector:
    return compile_selector(label_selector({label: value}))


def _slug(text: str) -> str:
    """Return a text as the name of an object."""
    found = re.sub(r"[^a-z0-9.-]+", "-", text.lower())[:NAME_CHARS_MAX]
    return re.sub(r"[.-]*\.[.-]*", ".", found).strip("-.") or "nodes"


# What they agree on


def _agreed(
    name: str,
    samples: Sequence[tuple[str, Registered]],
    families: Mapping[str, DeviceFamily],
    policy: Homogeneity,
) -> FamilyDevices | str:
    """Return the devices of a new node, or what differs on which nodes."""
    devices: FamilyDevices = ()
    for family in families:
        there = [
            (node, own[family]) for node, own in samples if isinstance(own.get(family), Inventory)
        ]
        missing = [node for node, own in samples if family not in own]
        if there and missing and policy is Homogeneity.STRICT:
            return f"devices of {family} on {there[0][0]}, none on {missing[0]}"
        if not there or not _is_shared(len(there), len(samples), policy):
            continue
        inventories = [(node, each) for node, each in there if isinstance(each, Inventory)]
        answer = agreed(name, inventories, policy)
        if isinstance(answer, Refusal):
            return answer.text.removeprefix("device profile heterogeneous: ")
        devices = (*devices, (family, answer.devices))
    return unsayable(devices) or devices or "no kind of device is on enough of the nodes"


def _is_shared(there: int, samples: int, policy: Homogeneity) -> bool:
    """Return whether so many of the samples are enough to expect the family on a new node."""
    return 2 * there > samples if policy is Homogeneity.MAJORITY else there == samples


def _document(each: _Set, devices: FamilyDevices, request: Request) -> dict[str, Any]:
    try:
        made = profile_object(
            each.name,
            each.selector,
            devices,
            homogeneity=request.homogeneity,
            on_mismatch=request.on_mismatch,
        )
        read_device_profile(made, origin=Origin(source=each.name))
    except (NotWritable, InvalidDocument) as fault:
        raise NotCaptured(f"No profile can say this: {fault}") from fault
    return made


def _about(
    each: _Set, samples: Sequence[tuple[str, Registered]], nodes: Sequence[Node]
) -> Iterator[str]:
    """Yield what to know of a profile: which nodes were no samples, and which it describes besides."""
    sampled = {name for name, _ in samples}
    left_out = [node.name for node in each.nodes if node.name not in sampled]
    if left_out:
        yield (
            f"{each.name}: not looked at, because not ready or without devices that can be read: "
            f"{', '.join(left_out)}."
        )
    own = {node.name for node in each.nodes}
    others = [
        node.name for node in nodes if each.selector.matches(node.labels) and node.name not in own
    ]
    if others:
        yield f"{each.name}: its selector describes other nodes, too: {', '.join(others)}."
