"""Options for expanders in tests."""

from collections.abc import Sequence

from springtide.engine.capacity.estimate import Estimate, NewNode
from springtide.engine.capacity.options import Expander, Option
from springtide.engine.capacity.start import DeviceTotals
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.policies.expanders import Price, PriceModel
from tests.builders import cards, group, node, pod, replicas
from tests.estimates import template

CARD_MIB = 24576


def option(
    name: str,
    *,
    nodes: int = 1,
    pods: Sequence[Pod] = (),
    of: Node | None = None,
    price: float | None = None,
    priority: int = 0,
    card_count: int = 0,
    card_memory_used: int = 0,
) -> Option:
    """Return an option that adds so many nodes and lets these pods run."""
    devices = (
        DeviceTotals(
            family="NVIDIA",
            memory_used_mib=card_memory_used,
            memory_total_mib=nodes * card_count * CARD_MIB,
            cores_total=nodes * card_count * 100,
        ),
    )
    return Option(
        group=group(name, price=price, priority=priority),
        template=template(of or node(), devices=cards(card_count)),
        estimate=Estimate(
            nodes=tuple(NewNode(f"{name}-{index}", ()) for index in range(nodes)),
            placed=tuple(pods),
            left=(),
            devices=devices if card_count else (),
        ),
        size=0,
    )


def kept(expander: Expander, options: Sequence[Option]) -> list[str]:
    """Return the names of the groups whose options the expander keeps."""
    return [each.option.group.name for each in expander.judge(options) if each.is_kept]


def priced(name: str, price: float, *, nodes: int, pods: int = 1, cores: int = 2) -> Option:
    """Return an option with a price for nodes of so many cores."""
    half = replicas(pods, pod(cpu="500m", memory="500Mi"))
    return option(name, nodes=nodes, pods=half, of=node(cpu=cores), price=price)


def prices(*, preferred: int) -> Price:
    """Return the expander by price in a cluster where nodes of so many cores are sensible."""
    return Price(
        PriceModel(per_core_hour=20.0, per_gib_hour=0.0, preferred_cpu_milli=preferred * 1000)
    )
