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
    Cluster,
    ask,
    card,
    cards,
    container,
    mig_card,
    place,
    pod,
    registered,
    used,
    view,
)

USE_IDS, AVOID_IDS = "nvidia.com/use-gpuuuid", "nvidia.com/nouse-gpuuuid"
NUMA_BIND, USE_TYPES = "nvidia.com/numa-bind", "nvidia.com/use-gputype"


def dev(
    device_id: str = "dev-0",
    *,
    slots: tuple[int, int] = (0, 100),
    memory: tuple[int, int] = (0, 1280),
    cores: tuple[int, int] = (0, 100),
    numa: int = 0,
    is_healthy: bool = True,
) -> tuple[Device, Use]:
    registered = card(
        device_id, slots=slots[1], memory_mib=memory[1], cores=cores[1], numa=numa,
        model="NVIDIA", mode="", is_healthy=is_healthy,
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
        pytest.param(
            [dev(memory=(0, 128)), dev("dev-1", memory=(0, 128))],
            request(1, 64, cores=50),
            {},
            (["dev-1"], [(64, 50)]),
            id="T15",
        ),
        pytest.param(
            [dev(memory=(0, 128))],
            request(1, 512, cores=50),
            {},
            "1/1 CardInsufficientMemory",
            id="T16",
        ),
        pytest.param(
            [dev(memory=(0, 1024), cores=(100, 100))],
            request(1, 512, cores=50),
            {},
            "1/1 CardInsufficientCore",
            id="T17",
        ),
        pytest.param(
            [dev()],
            request(1, 512, cores=50),
            {USE_TYPES: "OtherType"},
            "1/1 CardTypeMismatch",
            id="T18",
        ),
        pytest.param(
            [dev("dev-1")],
            request(2, 512, cores=50),
            {USE_IDS: "dev-0"},
            "1/1 CardUuidMismatch",
            id="T19",
        ),
        pytest.param(
            [dev()],
            request(2, 512, cores=50),
            {AVOID_IDS: "dev-0"},
            "1/1 CardUuidMismatch",
            id="T20",
        ),
        pytest.param(
            [dev(slots=(100, 100))],
            request(1, 512, cores=50),
            {},
            "1/1 CardTimeSlicingExhausted",
            id="T21",
        ),
        pytest.param([dev()], request(1, 512, cores=120), {}, (["dev-0"], [(512, 100)]), id="T22"),
        pytest.param(
            [dev(slots=(20, 100))],
            request(1, 512, cores=100),
            {},
            "1/1 ExclusiveDeviceAllocateConflict",
            id="T23",
        ),
        pytest.param(
            [dev(slots=(20, 100), cores=(100, 100))],
            request(1, 512),
            {},
            "1/1 CardComputeUnitsExhausted",
            id="T24",
        ),
        pytest.param(
            [dev(slots=(20, 100), cores=(10, 100))],
            request(2, 512, cores=20),
            {},
            "1/1 AllocatedCardsInsufficientRequest",
            id="T25",
        ),
        pytest.param(
            [dev(), dev("dev-1")],
            request(3, 512, cores=20),
            {},
            "2/2 AllocatedCardsInsufficientRequest",
            id="T26",
        ),
        pytest.param(
            [dev(slots=(20, 100), cores=(10, 100))],
            request(1, pct=10, cores=20),
            {},
            (["dev-0"], [(128, 20)]),
            id="T27",
        ),
        pytest.param(
            [dev(is_healthy=False)], request(1, pct=10, cores=20), {}, "1/1 CardNotHealth", id="T28"
        ),
        pytest.param(
            [dev("dev-0", numa=1), dev("dev-1", numa=1), dev("dev-2", numa=0)],
            request(2, 100, cores=10),
            {NUMA_BIND: "true"},
            (["dev-1", "dev-0"], [(100, 10), (100, 10)]),
            id="T31",
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


def test_a_card_with_an_unknown_mig_instance_counts_as_unhealthy() -> None:
    node = view((mig_card(), Use(slots=1, opaque=1)))

    assert place(pod(container(gpu=1, mem=10)), node) == "1/1 CardNotHealth"


@pytest.mark.parametrize(
    ("cordon", "expected"),
    [
        pytest.param("dev-1, ", {"n1": "dev-0,NVIDIA,10,0:;"}, id="T29"),
        pytest.param("dev-0,dev-1", {"n1": "2/2 CardCordoned"}, id="T30"),
    ],
)
def test_cordoned_cards_take_nothing(cordon: str, expected: dict[str, str]) -> None:
    node = registered(cards("dev-0", "dev-1"), **{"hami.io/device-cordon": cordon})

    assert Cluster(node).texts(pod(container(gpu=1, mem=10))) == expected


def test_more_cards_than_there_are_candidates_is_told_at_once() -> None:
    foreign = card("other", model="Tesla T4")

    assert place(pod(container(gpu=2, mem=1)), view(card(), foreign)) == "NodeInsufficientDevice"


def test_t32_numa_binding_gathers_cards_by_numa_node() -> None:
    node = view(
        (card("A", numa=0), used(5)), (card("B", numa=0), used(1)), (card("C", numa=1), used(3))
    )
    bound = pod(container(gpu=2, mem=1), annotations={NUMA_BIND: "true"})

    assert place(bound, node) == [["B", "A"]]


def test_t33_spread_takes_the_lowest_score_whatever_its_numa_node() -> None:
    node = view(
        (card("P", numa=0), used(1)), (card("Q", numa=1), used(8)), (card("R", numa=1), used(5))
    )

    assert place(pod(container(gpu=1, mem=1)), node) == [["P"]]


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        pytest.param(1, [["idle"]], id="T34 one"),
        pytest.param(
            2,
            "1/2 AllocatedCardsInsufficientRequest, 1/2 ExclusiveDeviceAllocateConflict",
            id="T34 two",
        ),
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


def test_t50_a_fresh_node_gives_its_last_cards_first() -> None:
    node = view(card("uuid1"), card("uuid2"))

    assert place(pod(container(gpu=1, mem=1)), node) == [["uuid2"]]
    assert place(pod(container(gpu=2, mem=1)), node) == [["uuid2", "uuid1"]]


def test_t51_spread_prefers_the_idle_card() -> None:
    node = view(card("uuid1", memory_mib=8000), (card("uuid2", memory_mib=8000), used(5, 4000, 50)))

    assert place(pod(container(gpu=1, mem=1)), node) == [["uuid1"]]


def test_t52_an_init_container_that_does_not_fit_refuses_the_pod() -> None:
    node = view((card("a", memory_mib=8000), used(1, 7500)), (card("b", memory_mib=500)))
    wanted = pod(container(gpu=1, mem=100), init=[container("warm", gpu=1, mem=4000)])

    assert place(wanted, node) == "2/2 CardInsufficientMemory"


def test_t53_every_container_has_its_list() -> None:
    wanted = pod(container("a"), container("b", gpu=1, mem=1), container("c"))

    assert place(wanted, view(card("x"))) == [[], ["x"], []]


@pytest.mark.parametrize(
    ("policy", "weights", "expected"),
    [
        pytest.param("binpack", "slot=1,core=1,memory=1", "a", id="T46 packed"),
        pytest.param("binpack", "slot=1,core=1,memory=3", "b", id="T46 packed by memory"),
        pytest.param("binpack", "slot=1,core=3,memory=1", "a", id="T46 packed by cores"),
        pytest.param("spread", "slot=1,core=1,memory=3", "a", id="T46 spread by memory"),
    ],
)
def test_weights_turn_the_order_of_cards(policy: str, weights: str, expected: str) -> None:
    # Cards of the bare type, so that what is asked counts in their scores.
    node = view(
        (card("a", memory_mib=100, model="NVIDIA"), used(1, 10, 90)),
        (card("b", memory_mib=100, model="NVIDIA"), used(7, 20, 10)),
    )
    notes = {DEVICE_POLICY: policy, "hami.io/device-scoring-weights": weights}

    assert place(pod(container(gpu=1, pct=40), annotations=notes), node) == [[expected]]


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
