"""Tables that followed many changes equal tables made anew, and both equal asking directly."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from springtide.engine.framework.framework import PASSES
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.tables import Tables
from springtide.model.ledger import Ledger
from springtide.model.overlay import Overlay
from springtide.model.refusal import Refusal
from tests.builders import away, near, pod, spread, term
from tests.estimates import FAMILIES, tables_of
from tests.ledgers import NODES, holdings, inventories_of

CLASSES: Sequence[PodClass] = [
    Classifier(FAMILIES, keys=frozenset({"app"})).classify(each)
    for each in (
        pod(),
        pod(cpu="1200m"),
        pod(ports=[80, 82]),
        pod(others={"example.com/r11": 7}),
        pod(others={"x/new": 1}),
        pod(selector={"zone": "b"}),
        pod(terms=(term("zone", "DoesNotExist"),)),
        pod(gpu=1, gpumem=15000),
        pod(gpu=2, gpumem=5000, gpucores=40),
        pod(gpu=1, gpumem=5000, cpu=2, annotations={"nvidia.com/vgpu-mode": "mig"}),
        pod(gpu=1, annotations={"nvidia.com/nouse-gputype": "A10"}),
        pod(neighbours=spread("zone"), labels={"app": "a"}),
        pod(gpu=1, gpumem=5000, neighbours=spread("kubernetes.io/hostname"), labels={"app": "a"}),
        pod(neighbours=near("zone", "a"), labels={"app": "a"}),
        pod(cpu="1200m", gpu=1, neighbours=away("kubernetes.io/hostname", "a")),
    )
]
STEPS = st.lists(
    st.sampled_from(["add", "hold", "hold", "hold", "release", "fork", "revert", "look", "look"]),
    min_size=5,
    max_size=40,
)


def perform(step: str, overlay: Overlay, data: st.DataObject) -> None:
    """Change the ledger in one way, if that is possible now."""
    ledger = overlay.ledger
    match step:
        case "add":
            kind = data.draw(st.integers(0, len(NODES) - 1))
            overlay.add_node(NODES[kind], inventories_of(kind), name=f"node-{ledger.count}")
        case "hold" if ledger.count:
            row = data.draw(st.integers(0, ledger.count - 1))
            held = data.draw(holdings(row, NODES.index(ledger.nodes[row])))
            if held.uid not in ledger.holdings:
                overlay.hold(held)
        case "release" if ledger.holdings:
            overlay.release(data.draw(st.sampled_from(sorted(ledger.holdings))))
        case "fork":
            overlay.fork()
        case "revert" if overlay.depth:
            overlay.revert()
        case _:
            pass


def seen(tables: Tables, pod_class: PodClass) -> list[object]:
    """Return all that tables say about a class: candidates, scores, placements and refusals."""
    ledger = tables.ledger
    candidates = tables.candidates(pod_class)
    table = tables.table(pod_class)
    scores = table.rank[candidates].tobytes() if pod_class.asks else b""
    answers = [tables.place(pod_class, row) for row in range(ledger.count)]
    return [candidates.tolist(), scores, answers, tables.histogram(pod_class, below=ledger.count)]


@settings(max_examples=60)
@given(STEPS, st.data())
def test_following_changes_equals_starting_anew(steps: list[str], data: st.DataObject) -> None:
    overlay = Overlay(Ledger())
    tables = tables_of(overlay.ledger)

    for step in steps:
        perform(step, overlay, data)
        if step == "look":
            seen(tables, data.draw(st.sampled_from(CLASSES)))

    for pod_class in CLASSES:
        assert seen(tables, pod_class) == seen(tables_of(overlay.ledger), pod_class)


@settings(max_examples=40)
@given(STEPS, st.data())
def test_tables_say_what_the_rules_say_directly(steps: list[str], data: st.DataObject) -> None:
    overlay = Overlay(Ledger())
    for step in steps:
        perform(step, overlay, data)
    tables = tables_of(overlay.ledger)

    for pod_class in CLASSES:
        for row in range(overlay.ledger.count):
            answer = tables.place(pod_class, row)

            assert (answer if isinstance(answer, Refusal) else None) == direct(
                tables, pod_class, row
            )


def direct(tables: Tables, pod_class: PodClass, row: int) -> Refusal | None:
    """Return why the row refuses, asking each rule and family for this row alone."""
    ledger, framework = tables.ledger, tables.framework
    prepared = framework.prepare(pod_class.framework, ledger)
    verdicts = framework.evaluate(prepared, ledger, np.array([row]))
    if verdicts.rule[0] != PASSES:
        return framework.refusal(
            prepared, int(verdicts.rule[0]), int(verdicts.detail[0]), bool(verdicts.unresolvable[0])
        )
    for ask in pod_class.asks:
        view = ledger.view(row, ask.family)
        answer = (
            Refusal(rule=ask.family, reasons=("node unregistered",), is_unresolvable=True)
            if view is None
            else FAMILIES[ask.family].place(ask, view)
        )
        if isinstance(answer, Refusal):
            return answer
    return None
