"""Options: groups that would help, compared by expanders.

An expander keeps some of the options and says of each, in a sentence part, what it looked at. A
chain of expanders narrows the options until one is left; what is still equal then is decided by
the order of the groups in the input.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from springtide.engine.capacity.estimate import Estimate
from springtide.engine.simulation.templates import Template
from springtide.model.group import NodeGroup


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One group that would let pods run: with how many further nodes, and which pods.

    `similar` names the groups that would share the new nodes.
    """

    group: NodeGroup
    template: Template
    estimate: Estimate
    size: int
    similar: tuple[str, ...] = ()

    @property
    def node_count(self) -> int:
        """Return how many nodes are paid for: a group of all or none counts as a whole."""
        return self.group.max_size if self.group.is_zero_or_max else self.estimate.node_count


class Judgement(msgspec.Struct, frozen=True):
    """What an expander says of one option: kept or not, and why."""

    option: Option
    is_kept: bool
    why: str


class Expander(Protocol):
    """One criterion by which options are compared."""

    @property
    def name(self) -> str:
        """Return the name under which the criterion is chosen."""
        ...

    def judge(self, options: Sequence[Option]) -> list[Judgement]:
        """Return a judgement for every option, in order; at least one is kept unless none can be."""
        ...


class Choice(msgspec.Struct, frozen=True):
    """The outcome of a chain: the option taken (None if none can be) and why each fared as it did.

    `equal` are all options that are as good, the one taken first.
    """

    option: Option | None
    why: str
    rejected: tuple[tuple[Option, str], ...]
    equal: tuple[Option, ...] = ()


def choose(options: Sequence[Option], chain: Sequence[Expander]) -> Choice:
    """Narrow the options by each expander in turn and return the best with the reasons."""
    left = list(options)
    rejected: list[tuple[Option, str]] = []
    whys: dict[str, str] = {}
    for expander in chain:
        if len(left) <= 1:
            break
        judgements = expander.judge(left)
        left = [judgement.option for judgement in judgements if judgement.is_kept]
        for judgement in judgements:
            if judgement.is_kept:
                whys[judgement.option.group.name] = f"{expander.name}: {judgement.why}"
            else:
                rejected.append((judgement.option, f"{expander.name}: {judgement.why}"))
    if not left:
        return Choice(None, "", tuple(rejected))
    best, *equal = left
    rejected += [
        (option, f"as good as {best.group.name}, which is named first") for option in equal
    ]
    why = whys.get(best.group.name, "the only group that helps")
    return Choice(best, why, tuple(rejected), tuple(left))
