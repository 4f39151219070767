"""What is taken of devices."""

from springtide.base.quantity import NANO
from springtide.model.device_slices import PoolName
from springtide.model.device_usage import UNUSED, DeviceUsage, HeldClaims, PoolUse, merged
from springtide.model.resource_claims import HeldClaim
from tests.offers import DRIVER, given, share

POOL = PoolName(DRIVER, "a")
GIB = 2**30 * NANO


def test_devices_are_taken_alone_or_shared() -> None:
    usage = DeviceUsage([given("x"), share("y", memory="1Gi"), share("y", memory="2Gi")])

    use = usage.of(POOL)

    assert use == PoolUse(taken=frozenset({"x"}), consumed=(("y", (("memory", 3 * GIB),)),))
    assert use.in_use == {"x", "y"}
    assert use.consumed_of("y") == {"memory": 3 * GIB}
    assert use.consumed_of("x") == {}


def test_a_device_with_admin_access_is_not_taken() -> None:
    assert DeviceUsage([given("x", admin=True)]).of(POOL) is UNUSED


def test_what_is_taken_back_leaves_nothing() -> None:
    usage = DeviceUsage([given("x"), share("y", memory="1Gi")])

    usage.take(given("x"), sign=-1)
    usage.take(share("y", memory="1Gi"), sign=-1)

    assert usage.of(POOL) == UNUSED
    assert usage.counts() == DeviceUsage().counts()


def test_a_claim_that_two_pods_use_takes_its_devices_once() -> None:
    held = HeldClaims()
    shared = HeldClaim("default/mine", given("x"))
    held.count(shared)
    held.count(shared)

    held.count(shared, sign=-1)
    between = held.usage.of(POOL)
    held.count(shared, sign=-1)

    assert between.taken == {"x"}
    assert held.usage.of(POOL) == UNUSED
    assert held.given("default/mine") is None


def test_a_claim_is_found_while_a_pod_uses_it() -> None:
    held = HeldClaims()

    held.count(HeldClaim("default/mine", given("x")))
    held.count(HeldClaim("", given("y")))

    assert held.given("default/mine") == given("x")
    assert held.given("") is None
    assert held.usage.of(POOL).taken == {"x", "y"}


def test_two_accounts_of_a_pool_are_added_up() -> None:
    one = PoolUse(taken=frozenset({"x"}), consumed=(("y", (("memory", 1),)),))
    other = PoolUse(
        taken=frozenset({"z"}), consumed=(("w", (("cores", 5),)), ("y", (("memory", 2),)))
    )

    assert merged(one, UNUSED) is one
    assert merged(UNUSED, other) is other
    assert merged(one, other) == PoolUse(
        taken=frozenset({"x", "z"}),
        consumed=(("w", (("cores", 5),)), ("y", (("memory", 3),))),
    )
