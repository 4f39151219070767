"""What does a hypothetical change cost? Fork, add a node, hold a pod, revert, on small and large."""

from collections.abc import Iterator

from bench import clusters, world
from bench.figure import Figure, cpu_s
from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.families import Policies, families
from springtide.model.ledger import Holding
from springtide.model.overlay import Overlay

ROUNDS = 2_000


def measure() -> Iterator[Figure]:
    """Yield microseconds a round on 5,000 nodes, and how that compares with 100 nodes."""
    small, large = _round_s(100), _round_s(5_000)
    yield Figure("fork, add, hold, revert", large * 1e6, "us", "on 5,000 nodes x 8 cards")
    yield Figure(
        "5,000 nodes against 100", large / small, "times", "the same round in the same run"
    )


def _round_s(nodes: int) -> float:
    dump = clusters.dump(nodes=nodes, placed=0, pending=0, shape_count=1, groups=20)
    kinds = families(None, Policies())
    picture = assemble(world.read(dump, groups=20), kinds)
    overlay = Overlay(picture.ledger)
    node = picture.ledger.nodes[0]
    inventory = picture.ledger.devices["NVIDIA"].inventory_at(0)
    assert inventory is not None

    def rounds() -> None:
        for _ in range(ROUNDS):
            overlay.fork()
            row = overlay.add_node(node, {"NVIDIA": inventory}, name="new")
            overlay.hold(Holding(uid="pod", row=row, amounts=(("cpu", 100), ("pods", 1))))
            overlay.revert()

    return cpu_s(rounds, repeat=3) / ROUNDS
