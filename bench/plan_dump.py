"""How long does a plan take for a large cluster dump?

1,000 nodes x 8 cards in 20 groups, 18,000 pods of which 16,000 hold device memory, 2,000 pending
in 40 shapes; once with room for them, once on cards that are full.
"""

from collections.abc import Iterator

from bench import clusters, world
from bench.figure import Figure, cpu_s
from springtide.apps.planner import PlanReport, Request, run
from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.families import Policies, families
from springtide.wire.documents import decode

NODES, PLACED, PENDING, SHAPES, GROUPS = 1_000, 18_000, 2_000, 40, 20


def measure() -> Iterator[Figure]:
    """Yield the rates of loading and of planning, per second of CPU."""
    for name, share in (("with room", 0.05), ("full nodes", 0.49)):
        dump = clusters.dump(
            nodes=NODES,
            placed=PLACED,
            pending=PENDING,
            shape_count=SHAPES,
            groups=GROUPS,
            placed_share=share,
        )
        yield from _figures(name, dump)


def _figures(name: str, dump: bytes) -> Iterator[Figure]:
    given = world.sources(dump, groups=GROUPS)
    kinds = families(None, Policies())
    load_s = cpu_s(lambda: assemble(decode(given), kinds), repeat=3)
    found = decode(given)
    reports: list[PlanReport] = []
    whole_s = cpu_s(
        lambda: reports.append(
            run(found, Request(), clock=world.MonotonicClock(), rng=world.SeededRng())
        ),
        repeat=2,
    )
    plan_s = whole_s - cpu_s(lambda: assemble(found, kinds), repeat=2)
    report = reports[-1]
    grown = sum(group.size_after - group.size_before for group in report.groups)
    outcome = f"{len(report.fitting)} fit, {grown} nodes added"
    megabytes = len(dump) / 1e6
    how = f"{megabytes:.0f} MB to a ledger in {load_s:.2f} s of CPU"
    yield Figure(f"load, {name}", megabytes / load_s, "MB/s", how)
    how = f"{plan_s:.2f} s of CPU; {outcome}"
    yield Figure(f"plan, {name}", PENDING / plan_s, "pods/s", how)
