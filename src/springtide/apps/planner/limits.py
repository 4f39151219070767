"""Limits of the whole cluster that limit nothing: most likely a name is misspelt."""

from collections.abc import Iterator, Sequence

from springtide.apps.planner.picture import Picture
from springtide.base.names import CPU, MEMORY
from springtide.base.nearest import nearest
from springtide.engine.capacity.quotas import NODES, Counts, Quota, content, registered
from springtide.engine.simulation.templates import Template

ALWAYS_THERE = frozenset({CPU, MEMORY, NODES})


def idle_limits(quotas: Sequence[Quota], picture: Picture) -> tuple[str, ...]:
    """Return a sentence for every limit of something that no node has and no new one would have."""
    names = {name for quota in quotas for name, _ in quota.limits} - ALWAYS_THERE
    if not names:
        return ()
    known = {name for node in _contents(picture) for name in node}
    return tuple(_sentence(name, sorted(known)) for name in sorted(names - known))


def _contents(picture: Picture) -> Iterator[Counts]:
    for row, node in enumerate(picture.ledger.nodes):
        yield content(node, registered(picture.ledger, row))
    for item in picture.groups:
        if isinstance(item.template, Template):
            yield content(item.template.node, item.template.inventories)


def _sentence(name: str, known: Sequence[str]) -> str:
    close = nearest(name, known)
    offer = "" if close is None else f" Did you mean {close}?"
    return f"The limit of {name} limits nothing: no node has it, and no new one would.{offer}"
