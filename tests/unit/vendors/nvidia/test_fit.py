"""Exact placement on one node, check by check."""

import pytest
from msgspec import structs

from springtide.model.device import Allocation, Device, DeviceView, Use
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia import FAMILY
from springtide.vendors.nvidia.ask import NvidiaAsk, Request
from springtide.vendors.nvidia.cards import CardTrial
from springtide.vendors.nvidia.fit import fit_cards
from tests.unit.vendors.nvidia.building import (
    DEVICE_POLICY,
    ask,
    card,
    container,
    mig_card,
    place,
    pod,
    used,
    view,
)

USE_IDS, AVOID_IDS = "nvidia.com/use-gpuuuid", "nvidia.com/nouse-gpuuuid"
NUMA_BIND = "nvidia.com/numa-bind"


def dev(
    device_id: str = "dev-0",
    *,
    slots: tuple[int, int] = (0, 100),
    memory: tuple[int, int] = (0, 1280),
    cores: tuple[int, int] = (0, 100),
    numa: int = 0,
) -> tuple[Device, Use]:
    registered = card(
        device_id, slots=slots[1], memory_mib=memory[1], cores=cores[1], numa=numa,
        model="NVIDIA", mode="",
    )  # fmt: skip
    return registered, Use(slots=slots[0], memory_mib=memory[0], cores=cores[0])


def fitted(
    node: DeviceView,
    request: Request,
    notes: dict[str, str] | None = None,
) -> tuple[list[str], list[tuple[int, int]]] | str:
    """Fit one request as it stands, without counting candidates first."""
    wish = structs.replace(
        ask(pod(container(gpu=1, mem=1), annotations=notes)), requests=(request,)
    )
    trial = CardTrial(node, wish, kind=node.inventory)
    answer = fit_cards(wish, request, trial)
    if isinstance(answer, Refusal):
        return answer.text
    return [g.device_id for g in answer], [(g.memory_mib, g.cores) for g in answer]


def request(count: int = 1, memory_mib: int = 0, pct: int | None = None, cores: int = 0) -> Request:
    return Request(count=count, memory_mib=memory_mib, memory_pct=pct, cores=cores)


@pytest.mark.parametrize(
    ("states", "wanted", "notes", "expected"),
    [
        (
            [dev(memory=(0, 128)), dev("dev-1", memory=(0, 128))],
            request(1, 64, cores=50),
            {},
            (["dev-1"], [(64, 50)]),
        ),
        ([dev(memory=(0, 128))], request(1, 512, cores=50), {}, "1/1 CardInsufficientMemory"),
        (
            [dev(memory=(0, 1024), cores=(100, 100))],
            request(1, 512, cores=50),
            {},
            "1/1 CardInsufficientCore",
        ),
        ([dev("dev-1")], request(2, 512, cores=50), {USE_IDS: "dev-0"}, "1/1 CardUuidMismatch"),
        ([dev()], request(2, 512, cores=50), {AVOID_IDS: "dev-0"}, "1/1 CardUuidMismatch"),
        (
            [dev(slots=(100, 100))],
            request(1, 512, cores=50),
            {},
            "1/1 CardTimeSlicingExhausted",
        ),
        ([dev()], request(1, 512, cores=120), {}, (["dev-0"], [(512, 100)])),
        (
            [dev(slots=(20, 100))],
            request(1, 512, cores=100),
            {},
            "1/1 ExclusiveDeviceAllocateConflict",
        ),
        (
            [dev(slots=(20, 100), cores=(100, 100))],
            request(1, 512),
            {},
            "1/1 CardComputeUnitsExhausted",
        ),
        (
            [dev(slots=(20, 100), cores=(10, 100))],
            request(2, 512, cores=20),
            {},
            "1/1 AllocatedCardsInsufficientRequest",
        ),
        (
            [dev(), dev("dev-1")],
            request(3, 512, cores=20),
            {},
            "2/2 AllocatedCardsInsufficientRequest",
        ),
        (
            [dev(slots=(20, 100), cores=(10, 100))],
            request(1, pct=10, cores=20),
            {},
            (["dev-0"], [(128, 20)]),
        ),
        (
            [dev("d0", numa=1), dev("d1", numa=1), dev("d2", numa=0)],
            request(2, 100, cores=10),
            {NUMA_BIND: "true"},
            (["d1", "d0"], [(100, 10), (100, 10)]),
        ),
    ],
)
def test_cards_are_taken_or_refused_as_hami_does(
    states: list[tuple[Device, Use]],
    wanted: Request,
    notes: dict[str, str],
    expected: tuple[list[str], list[tuple[int, int]]] | str,
) -> None:
    assert fitted(view(*states), wanted, notes) == expected


def test_an_unhealthy_card_is_refused_first() -> None:
    broken = card(is_healthy=False)

    assert place(pod(container(gpu=1, pct=10, cores=20)), view(broken)) == "1/1 CardNotHealth"


def test_a_card_with_an_unknown_mig_instance_counts_as_unhealthy() -> None:
    node = view((mig_card(), Use(slots=1, opaque=1)))

    assert place(pod(container(gpu=1, mem=10)), node) == "1/1 CardNotHealth"


def test_cordoned_cards_take_nothing() -> None:
    free, cordoned = card("dev-0"), structs.replace(card("dev-1"), is_cordoned=True)
    wanted = pod(container(gpu=1, mem=10))

    assert place(wanted, view(free, cordoned)) == [["dev-0"]]
    both = (structs.replace(free, is_cordoned=True), cordoned)
    assert place(wanted, view(*both)) == "2/2 CardCordoned"


def test_more_cards_than_there_are_candidates_is_told_at_once() -> None:
    foreign = card("other", model="Tesla T4")

    assert place(pod(container(gpu=2, mem=1)), view(card(), foreign)) == "NodeInsufficientDevice"


def test_numa_binding_gathers_cards_by_numa_node() -> None:
    node = view(
        (card("A", numa=0), used(5)), (card("B", numa=0), used(1)), (card("C", numa=1), used(3))
    )
    bound = pod(container(gpu=2, mem=1), annotations={NUMA_BIND: "true"})

    assert place(bound, node) == [["B", "A"]]


def test_spread_takes_the_lowest_score_whatever_its_numa_node() -> None:
    node = view(
        (card("P", numa=0), used(1)), (card("Q", numa=1), used(8)), (card("R", numa=1), used(5))
    )

    assert place(pod(container(gpu=1, mem=1)), node) == [["P"]]


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, [["idle"]]),
        (2, "1/2 AllocatedCardsInsufficientRequest, 1/2 ExclusiveDeviceAllocateConflict"),
    ],
)
def test_mutex_takes_idle_cards_only(count: int, expected: list[list[str]] | str) -> None:
    node = view((card("used"), used(1)), card("idle"))
    wanted = pod(container(gpu=count, mem=1), annotations={DEVICE_POLICY: "mutex"})

    assert place(wanted, node) == expected


@pytest.mark.parametrize(
    ("mode_wanted", "expected"),
    [
        ("hami-core", [["GPU-a"]]),
        ("mig,hami-core", [["GPU-a"]]),
        ("mps", "1/1 CardTypeMismatch"),
        ("", "1/1 CardTypeMismatch"),
    ],
)
def test_the_mode_annotation_has_to_contain_the_cards_mode(
    mode_wanted: str, expected: list[list[str]] | str
) -> None:
    wanted = pod(container(gpu=1, mem=1), annotations={"nvidia.com/vgpu-mode": mode_wanted})

    assert place(wanted, view(card())) == expected


def test_a_fresh_node_gives_its_last_cards_first() -> None:
    node = view(card("uuid1"), card("uuid2"))

    assert place(pod(container(gpu=1, mem=1)), node) == [["uuid2"]]
    assert place(pod(container(gpu=2, mem=1)), node) == [["uuid2", "uuid1"]]


def test_spread_prefers_the_idle_card() -> None:
    node = view(card("uuid1", memory_mib=8000), (card("uuid2", memory_mib=8000), used(5, 4000, 50)))

    assert place(pod(container(gpu=1, mem=1)), node) == [["uuid1"]]


def test_an_init_container_that_does_not_fit_refuses_the_pod() -> None:
    node = view((card("a", memory_mib=8000), used(1, 7500)), (card("b", memory_mib=500)))
    wanted = pod(container(gpu=1, mem=100), init=[container("warm", gpu=1, mem=4000)])

    assert place(wanted, node) == "2/2 CardInsufficientMemory"


def test_every_container_has_its_list() -> None:
    wanted = pod(container("a"), container("b", gpu=1, mem=1), container("c"))

    assert place(wanted, view(card("x"))) == [[], ["x"], []]


def test_weights_turn_the_order_of_cards() -> None:
    node = view(
        (card("heavy", cores=100, memory_mib=100), used(1, 50, 90)),
        (card("light", cores=100, memory_mib=100), used(7, 60, 10)),
    )
    key = "hami.io/device-scoring-weights"

    even = pod(container(gpu=1, mem=1, cores=1))
    by_memory = pod(container(gpu=1, mem=1, cores=1), annotations={key: "slot=1,core=1,memory=3"})

    assert place(even, node) == [["light"]]
    assert place(by_memory, node) == [["heavy"]]


@pytest.mark.parametrize(
    ("policy", "cards_given"),
    [("binpack", [["device3"], ["device3"]]), ("spread", [["device3"], ["device3"]])],
)
def test_init_and_app_containers_may_share_a_card(
    policy: str, cards_given: list[list[str]]
) -> None:
    node = view(card("device3", memory_mib=8000), (card("device4", memory_mib=8000), used(1, 6000)))
    wanted = pod(
        container(gpu=1, mem=4000),
        init=[container("warm", gpu=1, mem=5000)],
        annotations={DEVICE_POLICY: policy},
    )

    assert place(wanted, node) == cards_given


def test_cards_with_one_id_are_charged_at_the_first_of_them() -> None:
    node = view(card("twin", memory_mib=10), card("twin", index=1, memory_mib=10))
    wanted = pod(container("a", gpu=1, mem=6), container("b", gpu=1, mem=6))

    assert place(wanted, node) == [["twin"], ["twin"]]


@pytest.mark.parametrize(
    ("states", "is_unresolvable"),
    [
        ([dev(memory=(0, 10))], True),
        ([dev(memory=(1280, 1280))], False),
        ([dev(slots=(0, 0))], True),
        ([dev(cores=(0, 10))], True),
        ([dev(slots=(100, 100)), dev("dev-1", memory=(0, 10))], False),
    ],
)
def test_a_refusal_says_whether_emptying_the_node_could_help(
    states: list[tuple[Device, Use]], *, is_unresolvable: bool
) -> None:
    answer = FAMILY.place(ask(pod(container(gpu=1, mem=512, cores=20))), view(*states))

    assert isinstance(answer, Refusal)
    assert answer.is_unresolvable is is_unresolvable


def test_a_placement_knows_its_init_containers() -> None:
    wish: NvidiaAsk = ask(pod(container(gpu=1), init=[container("i")]))

    answer = FAMILY.place(wish, view(card()))

    assert isinstance(answer, Allocation)
    assert (answer.family, answer.init_count, len(answer.containers)) == ("NVIDIA", 1, 2)
