"""Several replicas: who decides is who runs beside the leading kube-scheduler, and the Service finds it."""

from contextlib import AsyncExitStack

from springtide.apps.extender import Candidacy, Deadlines, Settings
from springtide.apps.extender.roles import ROLE
from springtide.model.lease import Lease
from springtide.wire.k8s.leases import lease_object
from tests.memorycluster import LEASE_PLACE
from tests.objectstore import Object
from tests.running import PODS, Unwilling, World, run, running, until

LEASE = Lease(namespace="kube-system", name="hami-scheduler")
SPACE = "kube-system"


def held_by(holder: str, *, renewed: str = "2026-01-01T00:00:00.000000Z") -> Object:
    """Return the lease as its holder writes it."""
    held = Lease(namespace=SPACE, name=LEASE.name, holder=holder, duration_s=3600, renewed=renewed)
    return lease_object(held)


def beside(host: str) -> Candidacy:
    """Return who goes by the kube-scheduler of its host."""
    return Candidacy(namespace=SPACE, name=LEASE.name, identity=host)


def standing(identity: str) -> Candidacy:
    """Return who stands for a lease of its own."""
    return Candidacy(namespace=SPACE, name="own", identity=identity, is_beside=False)


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
            running(cluster, settings=settings("one"), candidacy=beside("one")) as one,
            running(cluster, settings=settings("two"), candidacy=beside("two")) as two,
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
        async with running(Unwilling(world.store), candidacy=beside("one")) as extender:
            scheduling = extender.process.scheduling
            before = scheduling.is_leading
            world.store.merge(LEASE_PLACE, SPACE, LEASE.name, held_by("one_1"))
            await until(lambda: scheduling.is_leading)
            world.store.delete(LEASE_PLACE, SPACE, LEASE.name, {})
            await until(lambda: not scheduling.is_leading)

            assert not before

    run(work())


def test_replicas_elect_one_that_gives_the_lease_back_at_its_end() -> None:
    world = World()
    world.add_node("a")

    async def work() -> None:
        cluster = Unwilling(world.store)
        async with AsyncExitStack() as former:
            one = await former.enter_async_context(running(cluster, candidacy=standing("one_1")))
            await until(lambda: one.process.scheduling.is_leading)
            async with running(cluster, candidacy=standing("two_2")) as two:
                first = await one.filter(world.add_pod("p1", gpu=1), "a")
                follower = await two.filter(world.add_pod("p2", gpu=1), "a")
                await former.aclose()
                await until(lambda: two.process.scheduling.is_leading)
                second = await two.filter(world.pod("p2"), "a")

                assert first["NodeNames"] == ["a"]
                assert "does not lead" in follower["Error"]
                assert second["NodeNames"] == ["a"]
                assert len(list(two.live.holders.all())) == 2
        lease = world.store.read(LEASE_PLACE, SPACE, "own")

        assert not lease["spec"].get("holderIdentity")

    run(work())
