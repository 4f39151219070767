"""Cases seen in the field that a plan must get right, by their numbers."""

from collections.abc import Sequence
from functools import partial

import pytest
from msgspec.structs import replace

from springtide.apps.planner import PlanReport, Request, run
from springtide.apps.planner.report import GroupReport
from springtide.base.selectors import parse_selector
from springtide.base.taints import Taint
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.placing import Placement, holding
from springtide.model.device import Device, Inventory
from springtide.model.gang import GangApi, PodGroup
from springtide.model.group import NodeGroup
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.overlay import Overlay
from springtide.model.pod import GangLink, Pod
from springtide.model.profile import DeviceProfile
from springtide.model.refusal import Refusal
from springtide.wire.documents import Input
from tests.builders import card, cards, group, node, pod, replicas
from tests.estimates import FAMILIES, HandClock, estimated, tables_of, template
from tests.ledgers import content


class First:
    """Chance that always draws the first."""

    def choice_index(self, count: int) -> int:
        """Return zero."""
        assert count > 0
        return 0


def planned(
    *,
    groups: Sequence[NodeGroup],
    pending: Sequence[Pod],
    nodes: Sequence[Node] = (),
    running: Sequence[Pod] = (),
    profiles: Sequence[DeviceProfile] = (),
    pod_groups: Sequence[PodGroup] = (),
) -> PlanReport:
    found = Input(
        nodes=tuple(nodes),
        pods=(*running, *pending),
        groups=tuple(groups),
        profiles=tuple(profiles),
        pod_groups=tuple(pod_groups),
    )
    return run(found, Request(), clock=HandClock(), rng=First())


def sizes(report: PlanReport) -> dict[str, tuple[int, int]]:
    return {each.name: (each.size_before, each.size_after) for each in report.groups}


def report_of(report: PlanReport, name: str) -> GroupReport:
    return next(each for each in report.groups if each.name == name)


def profile(name: str, devices: Sequence[Device]) -> DeviceProfile:
    return DeviceProfile(
        name=name, selector=parse_selector(f"pool={name}"), devices=(("NVIDIA", tuple(devices)),)
    )


def empty(name: str, *, cpu: int = 8, memory: str = "64Gi", max_size: int = 4) -> NodeGroup:
    """Return a group without nodes whose described node its own profile matches."""
    described = node(f"template-{name}", cpu=cpu, memory=memory, labels={"pool": name})
    return group(name, max_size=max_size, template=described)


def holding_card(name: str, on: str, text: str) -> Pod:
    notes = {"hami.io/vgpu-node": on, "hami.io/vgpu-devices-allocated": text}
    return pod(name, on=on, annotations=notes)


def test_fc_042_pods_of_one_session_see_each_others_bookings() -> None:
    ledger = Ledger()
    fresh = node("t1"), {"NVIDIA": Inventory("NVIDIA", (card(),))}
    ledger.add_node(*fresh)
    tables, overlay = tables_of(ledger), Overlay(ledger)
    pod_class = Classifier(FAMILIES).classify(pod(gpu=1, gpumem=10240))
    before = content(ledger)

    with overlay.trial():
        for uid in ("u1", "u2"):
            placement = tables.place(pod_class, 0)
            assert isinstance(placement, Placement)
            overlay.hold(holding(uid, pod_class, placement))
        third_alone = tables.place(pod_class, 0)
        overlay.add_node(*fresh, name="t2")
        third_with_another = tables.candidates(pod_class).tolist()

    assert isinstance(third_alone, Refusal)
    assert third_alone.text == "1/1 CardInsufficientMemory"
    assert third_with_another == [1]
    assert content(ledger) == before
    assert tables.candidates(pod_class).tolist() == [0]
    three = replicas(3, pod(gpu=1, gpumem=10240))
    assert estimated(template(node(), devices=cards(1)), [three]).node_count == 2


def test_fc_045_a_full_card_makes_the_group_grow() -> None:
    report = planned(
        groups=[group("g", max_size=3)],
        nodes=[
            node(
                "n1",
                provider_id="g-1",
                others={"nvidia.com/gpu": 10},
                cards=[card("GPU-a", memory=15360)],
            )
        ],
        running=[holding_card("r", "n1", "GPU-a,NVIDIA,15000,0:;")],
        pending=[pod("p", gpu=1, gpumem=2000)],
    )

    assert report.fitting == ()
    assert sizes(report) == {"g": (1, 2)}
    assert report.is_satisfied


def test_fc_045_the_existing_node_is_refused_for_its_card() -> None:
    report = planned(
        groups=[],
        nodes=[node("n1", others={"nvidia.com/gpu": 10}, cards=[card("GPU-a", memory=15360)])],
        running=[holding_card("r", "n1", "GPU-a,NVIDIA,15000,0:;")],
        pending=[pod("p", gpu=1, gpumem=2000)],
    )

    (stuck,) = report.stuck
    assert stuck.message.startswith("0/1 nodes are available: 1 1/1 CardInsufficientMemory. ")


@pytest.mark.parametrize(
    ("devices", "gpumem", "size", "reason"),
    [
        pytest.param((), 8000, 0, "node unregistered", id="no description"),
        pytest.param(cards(1), 8000, 1, "", id="a card that is large enough"),
        pytest.param(cards(1), 30000, 0, "1/1 CardInsufficientMemory", id="too small a card"),
    ],
)
def test_fc_046_the_profile_decides_about_a_group_at_zero(
    devices: Sequence[Device], gpumem: int, size: int, reason: str
) -> None:
    report = planned(
        groups=[empty("g", max_size=3)],
        profiles=[profile("g", devices)] if devices else [],
        pending=[pod("p", gpu=1, gpumem=gpumem)],
    )

    assert sizes(report) == {"g": (0, size)}
    assert reason in "".join(each.reason for each in report_of(report, "g").objections)
    assert "Insufficient nvidia.com" not in report_of(report, "g").why


def test_fc_048_labels_of_an_empty_group_belong_to_its_template() -> None:
    plan = partial(planned, groups=[empty("gpu", max_size=2)], profiles=[profile("gpu", cards(1))])

    fitting = plan(pending=[pod("p", gpu=1, gpumem=1000, selector={"pool": "gpu"})])
    other = plan(pending=[pod("q", gpu=1, gpumem=1000, selector={"pool": "other"})])

    assert sizes(fitting) == {"gpu": (0, 1)}
    assert sizes(other) == {"gpu": (0, 0)}
    assert "didn't match Pod's node affinity/selector" in report_of(other, "gpu").why


@pytest.mark.parametrize(
    ("pending", "grown"),
    [(pod("gpu-only", gpu=1, gpumem=8000), "g1"), (pod("cpu-only", cpu=2), "cpu")],
)
def test_fc_049_least_waste_looks_at_devices(pending: Pod, grown: str) -> None:
    report = planned(
        groups=[
            empty("g8", cpu=96, memory="768Gi"),
            empty("g1", cpu=4, memory="16Gi"),
            empty("cpu", cpu=4, memory="16Gi"),
        ],
        profiles=[profile("g8", cards(8)), profile("g1", cards(1))],
        pending=[pending],
    )

    assert sizes(report) == {name: (0, int(name == grown)) for name in ("g8", "g1", "cpu")}


def recycled(name: str, device_id: str) -> Node:
    return node(
        name,
        provider_id=name,
        cards=[card(device_id)],
        taints=[Taint(key="recycle", value="true"), Taint(key="soft", effect="PreferNoSchedule")],
    )


@pytest.mark.parametrize(("ignored", "size"), [(["recycle"], 3), ([], 2)])
def test_fc_052_a_template_does_not_inherit_named_taints(ignored: Sequence[str], size: int) -> None:
    report = planned(
        groups=[group("g", max_size=5, ignored_taints=ignored)],
        nodes=[recycled("g-1", "GPU-a"), recycled("g-2", "GPU-b")],
        running=[holding_card("r", "g-1", "GPU-a,NVIDIA,24576,100:;")],
        pending=[pod("p", gpu=1, gpumem=8000)],
    )

    assert sizes(report) == {"g": (2, size)}


EIGHT = replicas(8, pod("p", gpu=1, gpumem=4096, cpu="500m"))


def test_fc_054_the_number_of_new_nodes_comes_from_packing() -> None:
    report = planned(
        groups=[empty("g", max_size=8)],
        profiles=[profile("g", cards(1, memory=16384))],
        pending=EIGHT,
    )

    assert sizes(report) == {"g": (0, 2)}
    assert [len(each.pods) for each in report_of(report, "g").nodes] == [4, 4]


def test_fc_054_max_one_allows_one_node() -> None:
    report = planned(
        groups=[empty("g", max_size=1)],
        profiles=[profile("g", cards(1, memory=16384))],
        pending=EIGHT,
    )

    (stuck,) = report.stuck
    assert sizes(report) == {"g": (0, 1)}
    assert len(stuck.pods) == 4
    assert stuck.closest is not None
    assert stuck.closest.reason == "max node group size reached"


def pod_group(minimum: int, **tasks: int) -> PodGroup:
    return PodGroup(
        api=GangApi.VOLCANO,
        namespace="default",
        name="job",
        minimum=minimum,
        task_minimums=tuple(tasks.items()),
    )


def members(pods: Sequence[Pod], task: str = "") -> list[Pod]:
    link = GangLink(api=GangApi.VOLCANO, name="job", task=task)
    return [replace(each, gang_links=(link,)) for each in pods]


WHOLE_CARD = members(replicas(4, pod("r", gpu=1)))


def test_fc_051_a_gang_grows_a_group_as_a_whole_or_not_at_all() -> None:
    report = planned(
        groups=[empty("g", max_size=3)],
        profiles=[profile("g", cards(1, memory=81920))],
        pending=WHOLE_CARD,
        pod_groups=[pod_group(4)],
    )

    assert sizes(report) == {"g": (0, 0)}
    assert report_of(report, "g").why == (
        "would help the gang default/job, but 4 new nodes needed, 3 allowed: "
        "max node group size reached"
    )
    assert (report.gangs[0].nodes_needed, report.gangs[0].nodes_allowed) == (4, 3)


def test_fc_051_a_gang_that_fits_grows_the_group_in_one_step() -> None:
    report = planned(
        groups=[empty("g", max_size=4)],
        profiles=[profile("g", cards(1, memory=81920))],
        pending=WHOLE_CARD,
        pod_groups=[pod_group(4)],
    )

    assert sizes(report) == {"g": (0, 4)}
    assert report.is_satisfied


CHIP = "huawei.com/Ascend910"


def chips(*counts: int) -> list[Node]:
    return [node(f"n{index}", others={CHIP: count}) for index, count in enumerate(counts)]


def test_fc_056_below_the_minimum_nothing_is_planned() -> None:
    pending = members(replicas(20, pod("p", others={CHIP: 1})))

    report = planned(groups=[], nodes=chips(*[1] * 8), pending=pending, pod_groups=[pod_group(20)])

    assert report.fitting == ()
    (gang,) = report.gangs
    assert (gang.running, gang.minimum, gang.short_by) == (8, 20, 12)
    assert not report.is_satisfied


@pytest.mark.parametrize(("free", "placed"), [(5, (3, 2)), (4, (0, 0))])
def test_fc_058_minimums_of_tasks_hold_inside_the_gang(free: int, placed: tuple[int, int]) -> None:
    pending = [
        *members(replicas(6, pod("t1", others={CHIP: 1})), "t1"),
        *members(replicas(2, pod("t2", others={CHIP: 1})), "t2"),
    ]

    report = planned(
        groups=[], nodes=chips(free), pending=pending, pod_groups=[pod_group(5, t1=2, t2=2)]
    )

    fitting = [each.pod for each in report.fitting]
    counts = tuple(sum(f"/{task}-" in each for each in fitting) for task in ("t1", "t2"))
    assert counts == placed
