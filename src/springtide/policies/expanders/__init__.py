"""Expanders: which of several node groups that would help is the best.

Names and rules are those of Cluster Autoscaler's expanders; `least-waste` also counts device
memory and cores, `price` takes prices from the node groups, `priority` the groups' own numbers.
"""

from springtide.policies.expanders.counts import LeastNodes, MostPods
from springtide.policies.expanders.price import Price, PriceModel
from springtide.policies.expanders.priority import Priority
from springtide.policies.expanders.random import Random
from springtide.policies.expanders.table import NAMES, UnknownExpander, chain
from springtide.policies.expanders.waste import LeastWaste, Waste, waste

__all__ = [
    "NAMES",
    "LeastNodes",
    "LeastWaste",
    "MostPods",
    "Price",
    "PriceModel",
    "Priority",
    "Random",
    "UnknownExpander",
    "Waste",
    "chain",
    "waste",
]
