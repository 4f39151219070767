"""The policy `fragmentation` says what its definition says, and tables say it after any changes."""

from collections.abc import Mapping, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.classes import Classifier, PodClass
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.policy import PolicyTable
from springtide.engine.placement.tables import Tables
from springtide.model.device import Inventory, Share
from springtide.model.ledger import Holding, Ledger
from springtide.model.overlay import Overlay
from springtide.policies.fragmentation import NAME, Fragmentation
from springtide.vendors.ascend import Ascend
from springtide.vendors.nvidia import Nvidia
from tests.builders import card, mig_card, node, pod
from tests.reference.fragmentation import Definition, shapes_of

FAMILIES: Mapping[str, DeviceFamily] = {
    "NVIDIA": Nvidia(node_policy=NAME, device_policy=NAME),
    "Ascend": Ascend(node_policy=NAME, device_policy=NAME),
}
MANAGED = frozenset(name for each in FAMILIES.values() for name in each.resource_names())
CHIP = replace(card("n", memory=65536, cores=20, slots=4, model="Ascend910B3"), mode="")
CHIPS = Inventory("Ascend", tuple(replace(CHIP, id=f"n{index}", index=index) for index in range(4)))
SMALL = Inventory("NVIDIA", tuple(card(f"s{index}", memory=10_000, slots=3) for index in range(2)))
MIXED = Inventory(
    "NVIDIA",
    (
        card("big", memory=80_000, model="NVIDIA-H100"),
        card("old", memory=7_001, cores=50, model="NVIDIA-T4"),
        card("broken", is_healthy=False),
        mig_card("cut"),
    ),
)
NODES: Sequence[tuple[int, str, dict[str, Inventory]]] = (
    (8, "64Gi", {"NVIDIA": SMALL}),
    (3, "8Gi", {"NVIDIA": MIXED}),
    (16, "16Gi", {"Ascend": CHIPS}),
    (12, "32Gi", {"NVIDIA": SMALL, "Ascend": CHIPS}),
    (64, "64Gi", {}),
)
ALIKE = 8
"""So many pods like it are seen for each that is placed, for there to be shapes soon."""
H100 = {"nvidia.com/use-gputype": "H100"}
CLASSES: Sequence[PodClass] = [
    Classifier(FAMILIES).classify(each)
    for each in (
        pod(cpu=2),
        pod(gpu=1, gpumem=3000),
        pod(cpu=1, memory="1Gi", gpu=1, gpumem=3333, gpucores=30),
        pod(cpu="1500m", memory="3Gi", gpu=1, gpumem=3333, gpucores=30),
        pod(cpu=3, gpu=2, gpumem=4000, gpucores=10),
        pod(cpu=1, gpu=1, gpucores=100),
        pod(cpu=1, memory="2Gi", gpu=1, gpumem=20_000, annotations=H100),
        pod(cpu=4, others={"huawei.com/Ascend910B3": 2}),
        pod(cpu=1, others={"huawei.com/Ascend910B3": 1, "huawei.com/Ascend910B3-memory": 16384}),
    )
]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["come", "come", "come", "leave", "fork", "revert", "break"]),
        st.integers(0, len(CLASSES) - 1),
    ),
    min_size=20,
    max_size=60,
)


def started() -> Overlay:
    overlay = Overlay(Ledger())
    for number, (cpu, memory, inventories) in enumerate((*NODES, *NODES)):
        overlay.add_node(node(f"n{number}", cpu=cpu, memory=memory), inventories)
    return overlay


def tables_by(policy: Fragmentation, ledger: Ledger) -> Tables:
    framework = Framework(FrameworkConfig(ignored_resources=MANAGED))
    return Tables(
        ledger, framework, FAMILIES, policies=PolicyTable({NAME: policy}, by_default=NAME)
    )


def scores(tables: Tables, pod_class: PodClass) -> dict[int, float]:
    rows = tables.candidates(pod_class).tolist()
    return {row: float(tables.table(pod_class).rank[row]) for row in rows}


@settings(max_examples=25)
@given(steps=STEPS, looked_at=st.lists(st.integers(0, len(CLASSES) - 1), min_size=2, max_size=4))
def test_tables_score_and_rank_as_defined_after_any_changes(
    steps: list[tuple[str, int]], looked_at: list[int]
) -> None:
    overlay, policy = started(), Fragmentation(FAMILIES)
    ledger, seen = overlay.ledger, list[PodClass]()
    tables = tables_by(policy, ledger)

    for number, (step, which) in enumerate(steps):
        perform(
            step, which, overlay=overlay, tables=tables, policy=policy, seen=seen, uid=f"{number}"
        )
        if number % 7 == 0:
            tables.candidates(CLASSES[looked_at[0]])

    defined = Definition(FAMILIES, shapes_of(seen))
    afresh = Fragmentation(FAMILIES)
    for each in seen:
        afresh.see(each)
    for pod_class in (CLASSES[index] for index in looked_at):
        found = scores(tables, pod_class)
        fresh = scores(tables_by(afresh, ledger), pod_class)
        # Tables that have placed before know of rows that only seemed to fit.
        assert found == {row: fresh[row] for row in found}
        assert found == {row: defined.score(pod_class, ledger, row) for row in found}
        for ask in pod_class.asks:
            for row in found:
                view = ledger.view(row, ask.family)
                assert view is not None
                assert policy.ranks(ask, view) == defined.ranks(ask, view)


def perform(
    step: str,
    which: int,
    *,
    overlay: Overlay,
    tables: Tables,
    policy: Fragmentation,
    seen: list[PodClass],
    uid: str,
) -> None:
    """Let a pod come or go, a card become unknown, or take back what came since a mark."""
    ledger, pod_class = overlay.ledger, CLASSES[which]
    match step:
        case "come":
            for _ in range(ALIKE):
                policy.see(pod_class)
                seen.append(pod_class)
            rows = tables.candidates(pod_class)
            if len(rows):
                placed = tables.place(pod_class, int(rows[len(uid) % len(rows)]))
                if isinstance(placed, Placement):
                    overlay.hold(holding(uid, pod_class, placed))
        case "leave" if ledger.holdings:
            overlay.release(sorted(ledger.holdings)[which % len(ledger.holdings)])
        case "break":
            share = Share(position=0, slots=0, is_opaque=True)
            overlay.hold(Holding(uid=uid, row=which, shares=(("NVIDIA", (share,)),)))
        case "fork":
            overlay.fork()
        case "revert" if overlay.depth:
            overlay.revert()
        case _:
            pass
