"""The expanders by name, and chains of them."""

from collections.abc import Sequence

from springtide.base.clock import Rng
from springtide.base.errors import SpringtideError
from springtide.engine.capacity.options import Expander
from springtide.policies.expanders.counts import LeastNodes, MostPods
from springtide.policies.expanders.price import Price, PriceModel
from springtide.policies.expanders.priority import Priority
from springtide.policies.expanders.random import Random
from springtide.policies.expanders.waste import LeastWaste

NAMES = (
    LeastWaste.name,
    Price.name,
    Priority.name,
    MostPods.name,
    LeastNodes.name,
    Random.name,
)


class UnknownExpander(SpringtideError):
    """A chain names an expander that does not exist, twice, or after `random`."""


def chain(names: Sequence[str], *, prices: PriceModel, rng: Rng) -> tuple[Expander, ...]:
    """Return the expanders of these names, in order; raises `UnknownExpander`."""
    made: dict[str, Expander] = {
        LeastWaste.name: LeastWaste(),
        Price.name: Price(prices),
        Priority.name: Priority(),
        MostPods.name: MostPods(),
        LeastNodes.name: LeastNodes(),
        Random.name: Random(rng),
    }
    for position, name in enumerate(names):
        if name not in made:
            raise UnknownExpander(f"expander {name!r} does not exist: use {', '.join(NAMES)}")
        if name in names[:position]:
            raise UnknownExpander(f"expander {name!r} is named twice: name each once")
        if name == Random.name and position != len(names) - 1:
            raise UnknownExpander("expander 'random' leaves one option: put it last")
    return tuple(made[name] for name in names)
