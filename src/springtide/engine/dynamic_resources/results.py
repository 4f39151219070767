"""What a search found, as allocations of claims."""

from collections.abc import Iterable, Sequence

from springtide.base.quantity import Quantity
from springtide.base.selectors import NodeSelectorRequirement, NodeSelectorTerm
from springtide.engine.dynamic_resources.choices import Chosen
from springtide.engine.dynamic_resources.search import Found
from springtide.model.resource_claims import ClaimAllocation, DeviceUse

NAME_FIELD = "metadata.name"


def allocations(found: Found, *, node: str) -> tuple[ClaimAllocation, ...]:
    """Return what each claim is given, if the pod goes to the node of this name."""
    return tuple(
        ClaimAllocation(tuple(map(_use, claim)), terms(claim, node=node)) for claim in found
    )


def score(found: Found) -> int:
    """Return the node's score before it is normalised: alternatives that come earlier are better."""
    chosen = {id(each.wanted): each.wanted.worth for claim in found for each in claim}
    return sum(chosen.values())


def terms(claim: Sequence[Chosen], *, node: str) -> tuple[NodeSelectorTerm, ...] | None:
    """Return which nodes can use these devices, None if all can.

    One device that is local to a node, or binds to it, decides; otherwise the conditions of all
    devices are joined in one term.
    """
    expressions: dict[NodeSelectorRequirement, None] = {}
    fields: dict[NodeSelectorRequirement, None] = {}
    for each in claim:
        scope = each.candidate.scope
        if scope.node_name or each.candidate.device.binds_to_node:
            return (only(scope.node_name or node),)
        for term in scope.terms or ():
            expressions.update(dict.fromkeys(term.expressions))
            fields.update(dict.fromkeys(term.fields))
    if not expressions and not fields:
        return None
    return (NodeSelectorTerm(expressions=tuple(expressions), fields=tuple(fields)),)


def only(node: str) -> NodeSelectorTerm:
    """Return the term that selects one node by its name."""
    named = NodeSelectorRequirement(key=NAME_FIELD, operator="In", values=(node,))
    return NodeSelectorTerm(fields=(named,))


def _use(chosen: Chosen) -> DeviceUse:
    driver, pool, device = chosen.candidate.id
    return DeviceUse(
        request=chosen.wanted.name,
        driver=driver,
        pool=pool,
        device=device,
        admin_access=chosen.wanted.request.admin_access,
        consumed=None if chosen.consumed is None else _quantities(chosen.consumed.items()),
    )


def _quantities(amounts: Iterable[tuple[str, int]]) -> tuple[tuple[str, Quantity], ...]:
    return tuple(sorted((name, Quantity(nano=nano)) for name, nano in amounts))
