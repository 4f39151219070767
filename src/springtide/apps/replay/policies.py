"""Policies by name: how nodes are picked, a slash, how devices are picked; and what is recorded."""

from typing import Final

from springtide.apps.planner.families import Policies

RECORDED: Final = "recorded"
"""No policy but the placement that the input has."""


def policies(name: str) -> Policies:
    """Return the policies of a name such as `binpack/spread`."""
    node, _, device = name.partition("/")
    return Policies(node=node, device=device)
