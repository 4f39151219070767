"""The law of fragmentation: on clusters such as traces know, it is the published measure."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from springtide.apps.planner.families import Policies, families
from springtide.apps.replay.trace import as_input
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.tables import Tables
from springtide.engine.replay import Shape, arrivals, fragments, placed_in_turn, shapes
from springtide.engine.trace.fragmentation import Fragmentation
from springtide.engine.trace.typical import TypicalPod
from springtide.model.device import Inventory
from springtide.model.ledger import Ledger
from springtide.model.trace import TraceNode, TracePod

MODELS = ("T4", "P100")
# Memory plays no part in the published measure.
MEMORY_MIB = 2**30
NODES = st.lists(
    st.tuples(st.sampled_from([2000, 6000]), st.integers(1, 3), st.sampled_from(MODELS)),
    min_size=1,
    max_size=4,
).map(
    lambda drawn: [
        TraceNode(name=f"n{index}", cpu_milli=cpu, memory_mib=MEMORY_MIB, gpus=gpus, model=model)
        for index, (cpu, gpus, model) in enumerate(drawn)
    ]
)
ASK = st.tuples(
    st.sampled_from([500, 1000, 4000]),
    st.sampled_from([(1, 100), (1, 460), (1, 700), (1, 1000), (2, 1000)]),
    st.sampled_from([(), (), ("T4",), MODELS]),
)
PODS = st.lists(ASK, min_size=1, max_size=12).map(
    lambda drawn: [
        TracePod(
            name=f"p{index:02}",
            cpu_milli=cpu,
            memory_mib=1,
            gpus=gpus,
            gpu_milli=milli,
            models=models,
        )
        for index, (cpu, (gpus, milli), models) in enumerate(drawn)
    ]
)


@settings(max_examples=100, deadline=None)
@given(nodes=NODES, pods=PODS)
def test_what_is_of_no_use_is_what_the_published_measure_calls_a_fragment(
    nodes: list[TraceNode], pods: list[TracePod]
) -> None:
    found = as_input(nodes, pods)
    known = families(None, Policies())
    ledger = Ledger()
    for each in found.nodes:
        inventories = {name: family.inventory(each) for name, family in known.items()}
        ledger.add_node(
            each, {name: own for name, own in inventories.items() if isinstance(own, Inventory)}
        )
    ignored = frozenset(name for family in known.values() for name in family.resource_names())
    tables = Tables(ledger, Framework(FrameworkConfig(ignored_resources=ignored)), known)
    classifier = Classifier(known)
    assert list(placed_in_turn(found.pods, arrivals(len(pods)), classifier, tables))
    typical = shapes(found.pods, classifier)

    (answer,) = fragments(typical, classifier, tables)

    expected = published(nodes, pods, typical, ledger)
    assert answer.unusable_mib == pytest.approx(expected)


def published(
    nodes: Sequence[TraceNode], pods: Sequence[TracePod], typical: Sequence[Shape], ledger: Ledger
) -> float:
    """Return the published measure for these shapes on the ledger as it is."""
    by_name = {pod.name: pod for pod in pods}
    total = sum(shape.count for shape in typical)
    measure = Fragmentation(
        [
            TypicalPod(
                cpu_milli=pod.cpu_milli,
                gpus=pod.gpus,
                gpu_milli=pod.gpu_milli,
                models=pod.models,
                share=shape.count / total,
            )
            for shape in typical
            for pod in (by_name[shape.pod.name],)
        ]
    )
    cpu = ledger.resources.index("cpu")
    columns = ledger.devices["NVIDIA"]
    amount = 0.0
    for row, each in enumerate(nodes):
        free_milli = each.cpu_milli - int(ledger.resources.used[cpu, row])
        used = columns.memory_used[row, : each.gpus]
        gpus = tuple(sorted((columns.memory_total[row, : each.gpus] - used).tolist()))
        amount += measure.amount(each.model, measure.level(free_milli), gpus)
    return amount
