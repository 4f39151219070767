"""The devices of a node that is copied."""

from msgspec.structs import replace

from springtide.engine.dynamic_resources.copies import (
    copied_uses,
    moved,
    renamed,
    slices_by_node,
)
from springtide.model.device_slices import NodeScope
from springtide.model.resource_claims import ClaimAllocation
from tests.offers import claim, claiming, given, objects, offered, sliced

OWN = sliced(offered("d"))
EVERYWHERE = sliced(offered("d"), pool="net", scope=NodeScope(is_everywhere=True))
PARTLY = sliced(offered("d", scope=NodeScope(node_name="a")), pool="fabric", is_per_device=True)


def test_only_slices_for_one_node_belong_to_it() -> None:
    assert slices_by_node([OWN, EVERYWHERE, PARTLY]) == {"a": (OWN,)}


def test_a_copy_has_pools_of_its_own_name() -> None:
    (found,) = renamed([OWN], "b")

    assert found == replace(OWN, pool="a-b", scope=NodeScope(node_name="b"))


def test_pods_hold_the_same_devices_on_a_copy() -> None:
    daemon = claiming("mine", "other", name="daemon")
    held = claim("mine", allocation=given("d"))
    elsewhere = claim("other", allocation=given("d", pool="net"))

    uses = copied_uses([daemon, claiming(name="plain")], [OWN], objects(held, elsewhere))

    assert uses == {"daemon": (given("d"), ClaimAllocation())}
    assert moved(uses["daemon"][0], "b") == given("d", pool="a-b")
