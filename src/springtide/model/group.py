"""Node groups: sets of equal nodes whose size an autoscaler or a person may change."""

import re
from typing import Final

import msgspec

from springtide.base.selectors import Selector
from springtide.model.node import Node

UNRANKED: Final = -(2**31)
"""The priority of a group that no rule gives one."""


class NodeGroup(msgspec.Struct, frozen=True, kw_only=True):
    """One group. `size` is None when the number of its nodes in the input is its size.

    A node belongs to the group if its provider id matches `provider_id_pattern` (a regular
    expression, whole string) or its labels match `selector`. `template` is the node that the input
    describes for a group without nodes; `profile` names a device profile; `price` is per node and
    hour, `priority` the larger the better. A group that `is_zero_or_max` has no node or all of them.
    """

    name: str
    provider_id_pattern: str = ""
    selector: Selector | None = None
    min_size: int = 0
    max_size: int
    size: int | None = None
    price: float | None = None
    priority: int = 0
    template: Node | None = None
    profile: str = ""
    homogeneity: str = ""
    is_zero_or_max: bool = False
    ignored_taints: tuple[str, ...] = ()


class PriorityRules(msgspec.Struct, frozen=True):
    """Priorities by patterns of group names, regular expressions that match anywhere in the name."""

    rules: tuple[tuple[int, tuple[str, ...]], ...]

    def of(self, name: str) -> int:
        """Return the highest priority that has a pattern for the group, or UNRANKED."""
        return max(
            (
                priority
                for priority, patterns in self.rules
                if any(re.search(pattern, name) for pattern in patterns)
            ),
            default=UNRANKED,
        )
