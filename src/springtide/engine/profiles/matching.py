"""Which profiles the nodes go by: the one that a node names, or the first that selects it.

Two profiles that select one node and promise different devices contradict each other; neither counts.
Nodes are matched anew only where their labels or a profile have changed.
"""

from collections.abc import Mapping

from springtide.engine.simulation.profiled import PROFILE_ANNOTATION
from springtide.model.node import Node
from springtide.model.profile import (
    DeviceProfile,
    StoredProfile,
    describing,
    opposed,
    unknown_vendor,
)


def named(node: Node) -> str:
    """Return the profile that a node names, empty if it names none."""
    return node.annotations.get(PROFILE_ANNOTATION, "")


def selecting(profiles: Mapping[str, DeviceProfile], node: Node) -> tuple[str, ...]:
    """Return the names of the profiles that select a node, in order."""
    ordered = [profiles[name] for name in sorted(profiles)]
    return tuple(each.name for each in describing(ordered, node.labels))


def contradictions(
    profiles: Mapping[str, DeviceProfile], selected: Mapping[str, tuple[str, ...]]
) -> dict[str, str]:
    """Return why profiles are of no use beside each other; `selected` are profiles by node."""
    found: dict[str, str] = {}
    for node in sorted(selected):
        for name, other in opposed([profiles[each] for each in selected[node]]):
            found.setdefault(
                name,
                f"It selects {node} as {other} does, with other devices; neither is used. "
                "Narrow one of the selectors.",
            )
    return found


def fault_of(stored: StoredProfile, families: Mapping[str, object]) -> str:
    """Return why a profile is of no use by itself, empty if it is."""
    if stored.profile is None:
        return stored.fault
    fault = unknown_vendor(stored.profile, families)
    return f"spec.devices[].vendor: {fault}" if fault else ""
