"""Nodes as rows of a ledger, and groups with their sizes and templates.

A node whose registration cannot be read is closed for that vendor, and reported.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from springtide.engine.capacity.situation import SizedGroup
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.simulation.templates import Fleet, build, members
from springtide.model.device import Inventory
from springtide.model.group import NodeGroup, PriorityRules
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.problem import Problem
from springtide.model.profile import DeviceProfile, unknown_vendor
from springtide.model.refusal import Refusal
from springtide.wire.documents import Input

Registered = dict[str, Inventory | Refusal]
"""What is registered on a node, by vendor, or why that cannot be read."""


def add_node(
    ledger: Ledger, node: Node, families: Mapping[str, DeviceFamily], problems: list[Problem]
) -> Registered:
    """Add a node with its devices to the ledger, and return what is registered on it."""
    registered = registered_on(node, families)
    row = ledger.add_node(
        node, {name: found for name, found in registered.items() if isinstance(found, Inventory)}
    )
    for name, answer in registered.items():
        if isinstance(answer, Refusal):
            ledger.close(row, name, "", answer.text)
            problems.append(_malformed(node, name, answer))
    return registered


def registered_on(node: Node, families: Mapping[str, DeviceFamily]) -> Registered:
    """Return what is registered on a node."""
    return {
        name: answer
        for name, family in families.items()
        if (answer := family.inventory(node)) is not None
    }


def _malformed(node: Node, family: str, refusal: Refusal) -> Problem:
    return Problem(
        source="",
        object=f"Node/{node.name}",
        field="metadata.annotations",
        message=f"{refusal.text}. The node takes no {family} pods until its registration is valid.",
    )


def usable(
    profiles: Sequence[DeviceProfile],
    families: Mapping[str, DeviceFamily],
    problems: list[Problem],
) -> tuple[DeviceProfile, ...]:
    """Return the profiles whose vendors are known; one that is not must not be used in part."""
    found = []
    for profile in profiles:
        fault = unknown_vendor(profile, families)
        if not fault:
            found.append(profile)
            continue
        problems.append(
            Problem(
                source="",
                object=f"DeviceProfile/{profile.name}",
                field="spec.devices[].vendor",
                message=f"{fault} The profile is left out.",
            )
        )
    return tuple(found)


def sized_groups(found: Input, fleet: Fleet, problems: list[Problem]) -> tuple[SizedGroup, ...]:
    """Return the groups with their sizes and templates; a node belongs to the first that claims it."""
    owners: dict[str, str] = {}
    sized = []
    for group in found.groups:
        own = []
        for node in members(group, found.nodes):
            first = owners.setdefault(node.name, group.name)
            if first == group.name:
                own.append(node)
            else:
                problems.append(_claimed_twice(node, first, group.name))
        size = len(own) if group.size is None else group.size
        ranked = _ranked(group, found.priorities)
        sized.append(SizedGroup(group=ranked, size=size, template=build(ranked, own, fleet)))
    return tuple(sized)


def _ranked(group: NodeGroup, rules: PriorityRules | None) -> NodeGroup:
    """Return the group with the priority that the rules give it, where there are rules."""
    return group if rules is None else replace(group, priority=rules.of(group.name))


def _claimed_twice(node: Node, first: str, second: str) -> Problem:
    return Problem(
        source="",
        object=f"NodeGroup/{second}",
        field="nodeSelector",
        message=f"node {node.name} belongs to {first} already and is not counted again: "
        "let the selectors or provider id patterns of the two groups not overlap",
    )
