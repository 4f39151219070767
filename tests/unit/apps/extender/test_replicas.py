"""Several replicas: who decides is who runs beside the leading kube-scheduler, and the Service finds it."""

import asyncio

from springtide.apps.extender import Deadlines, Settings
from springtide.apps.extender.leading import Beside
from springtide.apps.extender.roles import ROLE
from springtide.model.lease import Lease
from springtide.wire.k8s.leases import lease_object
from tests.memorycluster import LEASE_PLACE
from tests.objectstore import Object
from tests.standin import PODS, Unwilling, World, run, running, until

LEASE = Lease(namespace="kube-system", name="hami-scheduler")
SPACE = "kube-system"


def held_by(holder: str, *, renewed: str = "2026-01-01T00:00:00.000000Z") -> Object:
    """Return the lease as its holder writes it."""
    held = Lease(namespace=SPACE, name=LEASE.name, holder=holder, duration_s=3600, renewed=renewed)
    return lease_object(held)


def replica(name: str) -> Object:
    """Return the pod of a replica."""
    labels = {"app.kubernetes.io/component": "hami-scheduler"}
    return {"metadata": {"name": name, "namespace": SPACE, "labels": labels}, "spec": {}}


def settings(name: str) -> Settings:
    """Return the settings of a replica."""
    return Settings(pod_name=name, pod_namespace=SPACE, deadlines=Deadlines(drain_s=1.0))


def role(world: World, name: str) -> str | None:
    """Return how a replica is labelled."""
    label: str | None = world.store.read(PODS, SPACE, name)["metadata"]["labels"].get(ROLE)
    return label


def test_one_of_two_replicas_decides_and_the_other_takes_over() -> None:
    world = World()
    world.add_node("a")
    world.store.create(LEASE_PLACE, SPACE, held_by("one_1234"))
    for name in ("one", "two"):
        world.store.create(PODS, SPACE, replica(name))

    async def work() -> None:
        cluster = Unwilling(world.store)
        async with (
            running(cluster, settings=settings("one"), beside=LEASE, host="one") as one,
            running(cluster, settings=settings("two"), beside=LEASE, host="two") as two,
        ):
            await until(lambda: role(world, "one") == "leader")
            await until(lambda: role(world, "two") == "follower")
            first = await one.filter(world.add_pod("p1", gpu=1), "a")
            follower = await two.filter(world.add_pod("p2", gpu=1), "a")
            reviewed = await two.post("/webhook", b"{}")
            world.store.merge(LEASE_PLACE, SPACE, LEASE.name, held_by("two_5678"))
            await until(lambda: role(world, "two") == "leader")
            await until(lambda: role(world, "one") == "follower")
            second = await two.filter(world.pod("p2"), "a")
            former = await one.filter(world.pod("p1"), "a")

            assert first["NodeNames"] == ["a"]
            assert "does not lead" in follower["Error"]
            assert reviewed["response"]["status"]["code"] == 400
            assert second["NodeNames"] == ["a"]
            assert "does not lead" in former["Error"]
            assert len(list(two.live.holders.all())) == 2
            two.live.ledger.check()

    run(work())


def test_a_lease_that_is_gone_or_of_a_longer_name_is_nobodys() -> None:
    world = World()
    world.store.create(LEASE_PLACE, SPACE, held_by("one-0_1234"))

    async def work() -> None:
        async with running(Unwilling(world.store), beside=LEASE, host="one") as extender:
            scheduling = extender.process.scheduling
            before = scheduling.is_leading
            world.store.merge(LEASE_PLACE, SPACE, LEASE.name, held_by("one_1"))
            await until(lambda: scheduling.is_leading)
            world.store.delete(LEASE_PLACE, SPACE, LEASE.name, {})
            await until(lambda: not scheduling.is_leading)

            assert not before

    run(work())


class Hand:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic_s(self) -> float:
        """Return its time."""
        return self.now_s


def test_a_lease_counts_from_when_its_renewal_was_seen() -> None:
    world = World()
    world.store.create(LEASE_PLACE, SPACE, held_by("one_1"))
    clock = Hand()

    async def work() -> None:
        cluster = Unwilling(world.store)
        async with running(cluster) as extender:
            scheduling = extender.process.scheduling
            beside = Beside(
                cluster, scheduling, lease=LEASE, host="one", clock=clock, log=extender.log
            )
            scheduling.lead(is_leading=False)
            watching = asyncio.create_task(beside.run())
            await until(lambda: scheduling.is_leading)
            clock.now_s = 3601.0
            world.store.merge(LEASE_PLACE, SPACE, LEASE.name, {"metadata": {"labels": {"x": "y"}}})
            await until(lambda: not scheduling.is_leading)
            renewed = held_by("one_1", renewed="2026-01-01T00:00:02.000000Z")
            world.store.merge(LEASE_PLACE, SPACE, LEASE.name, renewed)
            await until(lambda: scheduling.is_leading)
            watching.cancel()

    run(work())
