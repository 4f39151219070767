"""How long does a plan take for a large cluster dump?

1,000 nodes x 8 cards in 20 groups, 18,000 pods that hold device memory, 2,000 pending in 40 shapes;
once with room for some of them, once on nodes that are full.
"""

from collections.abc import Iterator

from bench import clusters, world
from bench.figure import Figure, cpu_s
from springtide.apps.planner import PlanReport, Request, run
from springtide.wire.documents import decode

NODES, PLACED, PENDING, SHAPES, GROUPS = 1_000, 18_000, 2_000, 40, 20


def measure() -> Iterator[Figure]:
    """Yield the rates of loading and of planning, per second of CPU."""
    for name, memory_mib in (("with room", 2_000), ("full nodes", 7_000)):
        dump = clusters.dump(
            nodes=NODES,
            placed=PLACED,
            pending=PENDING,
            shape_count=SHAPES,
            groups=GROUPS,
            placed_memory_mib=memory_mib,
        )
        given = world.sources(dump, groups=GROUPS)
        load_s = cpu_s(lambda given=given: decode(given), repeat=3)
        found = decode(given)
        reports: list[PlanReport] = []

        def plan(found: object = found, reports: list[PlanReport] = reports) -> None:
            clock, rng = world.MonotonicClock(), world.SeededRng()
            reports.append(run(found, Request(), clock=clock, rng=rng))  # type: ignore[arg-type]  # bound above

        plan_s = cpu_s(plan, repeat=2)
        report = reports[-1]
        grown = sum(group.size_after - group.size_before for group in report.groups)
        outcome = f"{len(report.fitting)} fit, {grown} nodes added"
        megabytes = len(dump) / 1e6
        yield Figure(
            f"load, {name}",
            megabytes / load_s,
            "MB/s",
            f"{megabytes:.0f} MB in {load_s:.2f} s of CPU",
        )
        yield Figure(
            f"plan, {name}", PENDING / plan_s, "pods/s", f"{plan_s:.2f} s of CPU; {outcome}"
        )
