"""What an estimate starts from."""

import pytest

from springtide.engine.capacity.start import Start, begin
from springtide.model.ledger import Ledger
from springtide.model.neighbours import ALONE, Neighbours
from springtide.model.overlay import Overlay
from tests.builders import node, pod, spread
from tests.estimates import batched, tables_of, template


def started(agent: Neighbours, waiting: Neighbours) -> Start:
    overlay = Overlay(Ledger())
    (batch,) = batched([[pod("waiting", cpu=1, neighbours=waiting)]])
    of = template(node(cpu=4), pods=[pod("agent", cpu=1, neighbours=agent)])
    return begin(of, tables_of(overlay.ledger), overlay, [batch.pod_class])


def test_a_new_node_holds_what_the_pods_of_its_template_take() -> None:
    start = started(ALONE, ALONE)

    row = start.add("new")

    assert start.overlay.ledger.resources.free(row)["cpu"] == 3000
    start.overlay.ledger.check()


@pytest.mark.parametrize(
    ("agent", "waiting", "is_seen"),
    [(ALONE, ALONE, False), (ALONE, spread("zone"), True), (spread("zone"), ALONE, True)],
    ids=["nobody looks", "the waiting pod looks", "the own pod looks"],
)
def test_pods_of_new_nodes_show_themselves_only_where_somebody_looks(
    agent: Neighbours,
    waiting: Neighbours,
    is_seen: bool,  # noqa: FBT001 - a case
) -> None:
    start = started(agent, waiting)

    start.add("new")

    assert bool(start.overlay.ledger.presences.content()) is is_seen
