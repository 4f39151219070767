"""How long does a plan take for many gangs?

1,000 gangs of 8 pods in 40 shapes on 1,000 nodes x 8 cards: once with room for all of them, once on
cards that are nearly full, where most gangs fall short and no group may grow, and once where groups
may grow by a part of what is asked.
"""

from collections.abc import Iterator, Sequence

from bench import clusters, world
from bench.figure import Figure, cpu_s
from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.families import Policies, families
from springtide.apps.planner.picture import Picture
from springtide.engine.capacity.plan import plan
from springtide.engine.capacity.situation import Plan, Situation
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.tables import Tables
from springtide.model.gang import Gang, Member
from springtide.policies.expanders import LeastWaste

NODES, GANGS, SIZE, SHAPES, GROUPS = 1_000, 1_000, 8, 40, 20


def measure() -> Iterator[Figure]:
    """Yield the seconds of CPU that each plan takes, beside those for the same pods without gangs."""
    for name, share, max_size in (
        ("room for all", 0.0, 50),
        ("room for a few", 0.49, 50),
        ("room for some", 0.49, 52),
    ):
        yield _figure(name, _picture(share, max_size))


def _figure(name: str, picture: Picture) -> Figure:
    gangs = _gangs(picture)
    plans: list[Plan] = []
    without_s = cpu_s(lambda: plans.append(_planned(picture, ())))
    took_s = cpu_s(lambda: plans.append(_planned(picture, gangs)))
    met = sum(answer.is_met for answer in plans[-1].gangs)
    how = f"{met} of {GANGS} gangs; {without_s:.2f} s without gangs"
    return Figure(f"{GANGS:,} gangs, {name}", took_s, "s", how)


def _picture(share: float, max_size: int) -> Picture:
    dump = clusters.dump(
        nodes=NODES,
        placed=16_000 if share else 0,
        pending=GANGS * SIZE,
        shape_count=SHAPES,
        groups=GROUPS,
        placed_share=share or 0.05,
    )
    return assemble(world.read(dump, groups=GROUPS, max_size=max_size), families(None, Policies()))


def _gangs(picture: Picture) -> list[Gang]:
    alike = sorted(picture.waiting, key=lambda pod: repr(pod.spec))
    return [
        Gang(
            api="bench",
            namespace="default",
            name=f"gang-{index}",
            minimum=SIZE - index % 4,
            waiting=tuple(Member(pod) for pod in alike[index * SIZE : (index + 1) * SIZE]),
        )
        for index in range(GANGS)
    ]


def _planned(picture: Picture, gangs: Sequence[Gang]) -> Plan:
    kinds = families(None, Policies())
    names = frozenset(name for family in kinds.values() for name in family.resource_names())
    framework = Framework(FrameworkConfig(ignored_resources=names))
    situation = Situation(
        tables=Tables(picture.ledger, framework, kinds),
        classifier=Classifier(kinds),
        pending=picture.waiting,
        gangs=gangs,
        groups=picture.groups,
        clock=world.MonotonicClock(),
    )
    return plan(situation, (LeastWaste(),))
