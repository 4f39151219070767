"""What a search found, as allocations."""

from springtide.base.quantity import NANO
from springtide.base.selectors import NodeSelectorTerm
from springtide.engine.dynamic_resources.matching import Matching
from springtide.engine.dynamic_resources.pools import pools_of, view
from springtide.engine.dynamic_resources.results import allocations, only
from springtide.engine.dynamic_resources.search import Search
from springtide.model.device_slices import NodeScope, OfferedDevice, ResourceSlice
from springtide.model.device_usage import DeviceUsage
from springtide.model.node import Node
from springtide.model.resource_claims import ClaimAllocation
from tests.builders import term
from tests.offers import ByAttribute, offered, request, sliced, wanted

NODE = Node(name="a", labels={"zone": "z1", "rack": "r1"})


def allocated(*slices: ResourceSlice, count: int = 1) -> ClaimAllocation:
    seen = (view(pool, NODE) for pool in pools_of(slices))
    views = [each for each in seen if each is not None]
    asked = wanted(request(count=count, capacity={"memory": "1Gi"}))
    found = Search([asked], views, DeviceUsage().of, Matching(ByAttribute())).find()
    assert found is not None
    (answer,) = allocations(found, node=NODE.name)
    return answer


def device(*, binds: bool = False) -> OfferedDevice:
    return offered("d", capacity={"memory": "1Gi"}, binds=binds)


def test_a_device_of_one_node_ties_the_claim_to_it() -> None:
    net = sliced(device(), pool="b", scope=NodeScope(is_everywhere=True))

    assert allocated(sliced(device()), net, count=2).terms == (only("a"),)


def test_a_device_that_binds_to_its_node_ties_the_claim_to_it() -> None:
    everywhere = NodeScope(is_everywhere=True)

    assert allocated(sliced(device(binds=True), scope=everywhere)).terms == (only("a"),)
    assert allocated(sliced(device(), scope=everywhere)).terms is None


def test_the_conditions_of_all_devices_are_joined() -> None:
    zone, rack = term("zone", "In", "z1"), term("rack", "In", "r1")
    slices = [
        sliced(device(), pool="b", scope=NodeScope(terms=(zone,))),
        sliced(device(), pool="c", scope=NodeScope(terms=(rack,))),
        sliced(device(), pool="d", scope=NodeScope(terms=(rack,))),
    ]

    both = NodeSelectorTerm(expressions=zone.expressions + rack.expressions)

    assert allocated(*slices, count=3).terms == (both,)


def test_a_share_says_what_it_consumes() -> None:
    shared = sliced(offered("d", capacity={"memory": "8Gi"}, is_shared=True))

    (use,) = allocated(shared).devices

    assert use.consumed is not None
    assert [(name, amount.nano) for name, amount in use.consumed] == [("memory", 2**30 * NANO)]
