"""Price: the cheapest way to run the pods, leaning towards nodes of a sensible size.

Cluster Autoscaler's price expander: the price of the new nodes over the price of the pods they
run, each with a small constant added that calms small numbers, times a factor that grows with the
distance of the node's cpu from the size preferred for a cluster like this, and fades as more nodes
are added. Nodes with devices take a fixed large factor, so that among them the price decides and
plain nodes win where they would do.
"""

from collections.abc import Sequence
from math import tanh

import msgspec

from springtide.base.names import CPU, MEMORY
from springtide.engine.capacity.options import Judgement, Option
from springtide.engine.framework.requests import pod_requests
from springtide.model.resources import Amounts, amounts

_GIB = 1 << 30
_MIB = 1 << 20
_STABILISATION: Amounts = {CPU: 500, MEMORY: 500 * _MIB}
_DEVICE_FACTOR = 1000.0
_FADING_NODES = 15.0
# Nodes in the cluster (at most) to the cpu, in thousandths, of a node of sensible size.
_PREFERRED_CPU = ((2, 1000), (6, 2000), (20, 4000), (60, 8000), (200, 16000))
_PREFERRED_CPU_LARGEST = 32000


class PriceModel(msgspec.Struct, frozen=True, kw_only=True):
    """What a pod is worth an hour, by what it requests, and how large the cluster is.

    The worth only weighs options against each other that run different pods. `preferred_cpu_milli`
    overrides the node size that the cluster's size suggests.
    """

    per_core_hour: float = 0.033174
    per_gib_hour: float = 0.004446
    cluster_size: int = 0
    preferred_cpu_milli: int | None = None

    def worth(self, wanted: Amounts) -> float:
        """Return the price of an hour of these requests."""
        cores, gib = wanted.get(CPU, 0) / 1000, wanted.get(MEMORY, 0) / _GIB
        return cores * self.per_core_hour + gib * self.per_gib_hour

    @property
    def preferred(self) -> int:
        """Return the cpu, in thousandths, that a new node should have."""
        if self.preferred_cpu_milli is not None:
            return self.preferred_cpu_milli
        fitting = (cpu for size, cpu in _PREFERRED_CPU if self.cluster_size <= size)
        return next(fitting, _PREFERRED_CPU_LARGEST)


class Price:
    """Keeps the options with the lowest score; an option without a price is dropped."""

    name = "price"

    def __init__(self, model: PriceModel) -> None:
        self._model = model

    def judge(self, options: Sequence[Option]) -> list[Judgement]:
        """Return a judgement for every option."""
        scores = [self._score(option) for option in options]
        least = min((score for score in scores if score is not None), default=None)
        return [
            Judgement(option, score is not None and score == least, _why(option))
            for option, score in zip(options, scores, strict=True)
        ]

    def _score(self, option: Option) -> float | None:
        price = option.group.price
        if price is None or price <= 0:
            return None
        count = option.node_count
        calm = self._model.worth(_STABILISATION)
        worth = sum(self._model.worth(pod_requests(pod.spec)) for pod in option.estimate.placed)
        return self._factor(option, count) * (price * count + calm) / (worth + calm)

    def _factor(self, option: Option, count: int) -> float:
        if option.template.inventories:
            return _DEVICE_FACTOR
        have = amounts(option.template.node.capacity).get(CPU, 0)
        if have <= 0:
            return _DEVICE_FACTOR
        preferred = self._model.preferred
        distance = max(preferred / have, have / preferred)
        return (distance - 1.0) * (1.0 - tanh((count - 1) / _FADING_NODES)) + 1.0


def _why(option: Option) -> str:
    if not option.group.price or option.group.price < 0:
        return "the group has no price"
    total = option.group.price * option.node_count
    return f"{total:.2f} an hour for {len(option.estimate.placed)} pods"
