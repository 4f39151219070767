"""Quotas of namespaces for NVIDIA cards: HAMi's own table, and what it leaves open."""

import pytest
from msgspec import structs

from springtide.model.device import Allocation, Grant
from springtide.model.pod import Pod
from springtide.model.quotas import Quotas
from springtide.vendors.nvidia import FAMILY, Nvidia, NvidiaConfig
from springtide.vendors.nvidia.ask import Allowance, NvidiaAsk
from springtide.vendors.nvidia.quota import Bound
from tests.quotas import GPUCORES, GPUMEM, TEAM, QuotaCluster
from tests.unit.vendors.nvidia.building import (
    ALLOCATED,
    ask,
    card,
    cards,
    container,
    mig_card,
    pod,
    registered,
    view,
)

LIMIT = Allowance(memory_mib=2048)
Mib = tuple[str, int]


def grants(*each: Mib) -> tuple[Grant, ...]:
    return tuple(
        Grant(device_id=name, type="NVIDIA", memory_mib=mib, cores=0) for name, mib in each
    )


@pytest.mark.parametrize(
    ("init", "app", "allocated", "picked", "fits"),
    [
        pytest.param(0, 1, [], [("gpu-1", 100)], True, id="T40a small"),
        pytest.param(0, 1, [], [("gpu-1", 3000)], False, id="T40a large"),
        pytest.param(0, 2, [], [("gpu-1", 1024), ("gpu-2", 100)], True, id="T40b small"),
        pytest.param(0, 2, [], [("gpu-1", 1024), ("gpu-2", 2000)], False, id="T40b large"),
        pytest.param(0, 2, [[("gpu-0", 1024)]], [("gpu-1", 100)], True, id="T40c small"),
        pytest.param(0, 2, [[("gpu-0", 1024)]], [("gpu-1", 2000)], False, id="T40c large"),
        pytest.param(
            0, 3, [[("gpu-0", 1024)]], [("gpu-1", 1024), ("gpu-1", 100)], False, id="T40d"
        ),
        pytest.param(2, 1, [[("gpu-0", 1500)]], [("gpu-0", 1500)], True, id="T40e"),
        pytest.param(
            2, 1, [[("gpu-0", 1024)], [("gpu-0", 1024)]], [("gpu-0", 500)], True, id="T40f"
        ),
        pytest.param(1, 1, [[("gpu-0", 2100)]], [("gpu-1", 100)], False, id="T40g"),
    ],
)
def test_what_containers_hold_is_summed_up_as_it_is_charged(
    init: int, app: int, allocated: list[list[Mib]], picked: list[Mib], *, fits: bool
) -> None:
    asking = [container(f"c{index}", gpu=1, mem=1) for index in range(init + app)]
    bound = Bound(ask(pod(*asking[init:], init=asking[:init])), LIMIT)
    for each in allocated:
        bound.note(grants(*each))

    assert bound.allows(grants(*picked)) is fits


FOUR = registered(
    [
        card(f"GPU-{index}", index=index, memory_mib=mib)
        for index, mib in enumerate((2000, 8000, 4000, 6000))
    ],
    name="node1",
)


@pytest.mark.parametrize(
    ("wanted", "cores", "memory", "expected"),
    [
        pytest.param({"gpu": 2, "mem": 2000, "cores": 100}, 200, 4000, "node1", id="T65"),
        pytest.param(
            {"gpu": 2, "mem": 3000, "cores": 60},
            200,
            4000,
            "1/4 AllocatedCardsInsufficientRequest, 3/4 ResourceQuotaNotFit",
            id="T66",
        ),
        pytest.param({"gpu": 1}, 100, 2000, "node1", id="T67"),
        pytest.param({"gpu": 1}, 100, 1500, "4/4 ResourceQuotaNotFit", id="T68"),
    ],
)
def test_a_filter_keeps_to_the_quota(
    wanted: dict[str, int], cores: int, memory: int, expected: str
) -> None:
    cluster = QuotaCluster([FOUR], {TEAM: {GPUCORES: cores, GPUMEM: memory}})

    assert cluster.place(pod(container(**wanted))) == expected


def test_a_whole_card_is_taken_where_the_quota_covers_it() -> None:
    cluster = QuotaCluster([FOUR], {TEAM: {GPUMEM: 2000}})

    cluster.place(pod(container(gpu=1)))

    assert cluster.used() == {GPUMEM: 2000, GPUCORES: 100}


@pytest.mark.parametrize(
    ("wanted", "is_denied"),
    [
        pytest.param(pod(container(gpu=1, mem=100)), False, id="T96 small"),
        pytest.param(pod(container(gpu=1, mem=1024)), True, id="T96 large"),
        pytest.param(pod(container(gpu=2, mem=1024)), True, id="T96 two large"),
        pytest.param(pod(container(gpu=2, mem=400)), False, id="T96 two small"),
        pytest.param(
            pod(
                container(gpu=1, mem=500),
                init=[container("i", gpu=1, mem=800), container("j", gpu=1, mem=800)],
            ),
            False,
            id="T97 inits run one by one",
        ),
        pytest.param(
            pod(container(gpu=1, mem=500), init=[container("i", gpu=1, mem=1500)]),
            True,
            id="T97 large init",
        ),
        pytest.param(pod(container("a", gpu=1, mem=600), container("b", gpu=1, mem=600)), True),
        pytest.param(pod(container(gpu=1, pct=100)), False, id="parts are nobody's number yet"),
        pytest.param(pod(container()), False, id="no card"),
    ],
)
def test_admission_holds_what_is_stated_against_the_quota(wanted: Pod, *, is_denied: bool) -> None:
    cluster = QuotaCluster([FOUR], {TEAM: {GPUMEM: 2000}})
    assert cluster.place(pod(container(gpu=1, mem=1000), name="there")) == "node1"

    found = cluster.denied(wanted)

    assert (found is not None) is is_denied
    if found is not None:
        assert found.text == "exceeding resource quota"
        assert found.detail.endswith("asked, 1000 of 2000 used")


def test_t70_an_init_container_that_has_ended_counts_no_longer() -> None:
    written = {ALLOCATED: "GPU-0,NVIDIA,20000,10:;GPU-0,NVIDIA,10000,5:;"}
    running = pod(container("app"), init=[container("init")], annotations=written)

    held = [FAMILY.decode(structs.replace(running, is_init_done=done)) for done in (False, True)]

    assert [FAMILY.charges(each) for each in held if isinstance(each, Allocation)] == [
        ((GPUMEM, 20000), (GPUCORES, 10)),
        ((GPUMEM, 10000), (GPUCORES, 5)),
    ]


def test_limits_of_memory_are_in_the_unit_of_users() -> None:
    family = Nvidia(NvidiaConfig(memory_factor=2))

    wanted = ask(pod(container(gpu=1, mem=500)), family=family)

    assert family.quota_factors() == {GPUMEM: 2, GPUCORES: 1}
    assert family.most(wanted, QuotaCluster([FOUR]).ledger.devices["NVIDIA"]) == (
        (GPUMEM, 1000),
        (GPUCORES, 0),
    )


def test_resources_without_a_name_have_no_quota() -> None:
    family = Nvidia(NvidiaConfig(memory_name="", cores_name="x.com/cores"))
    held = Allocation(family="NVIDIA", containers=(grants(("GPU-a", 5)),))

    assert family.quota_factors() == {"x.com/cores": 1}
    assert family.charges(held) == (("x.com/cores", 0),)


def test_an_instance_counts_for_what_it_is_cut_to() -> None:
    cluster = QuotaCluster([registered([mig_card()])], {TEAM: {GPUMEM: 6000}})

    assert cluster.place(pod(container(gpu=1, mem=1000), name="one")) == "n1"
    assert cluster.used() == {GPUMEM: 5120, GPUCORES: 14}
    assert cluster.place(pod(container(gpu=1, mem=1000), name="two")) == "1/1 ResourceQuotaNotFit"


def test_an_ask_that_is_covered_whatever_it_gets_is_not_bound() -> None:
    cluster = QuotaCluster([FOUR], {TEAM: {GPUMEM: 8000, GPUCORES: 100}})

    whole, two = (cluster.classified(pod(container(gpu=count))) for count in (1, 2))

    assert cluster.tables.asks_of(whole) == whole.asks
    (bound,) = cluster.tables.asks_of(two)
    assert isinstance(bound, NvidiaAsk)
    assert bound.allowance == Allowance(memory_mib=8000, cores=100)


def test_what_is_less_than_one_card_takes_is_as_good_as_nothing() -> None:
    wanted = ask(pod(container(gpu=1, mem=1000, cores=30)))

    short = [FAMILY.within(wanted, {GPUMEM: left, GPUCORES: 29}) for left in (0, 10, 999)]

    assert short == [structs.replace(wanted, allowance=Allowance(memory_mib=-1, cores=-1))] * 3


def test_init_containers_of_one_card_do_not_add_up() -> None:
    one = registered([card()])
    wanted = pod(container(gpu=1, mem=1000), init=[container("i", gpu=1, mem=4000)])

    fitting = QuotaCluster([one], {TEAM: {GPUMEM: 4000}})
    tight = QuotaCluster([one], {TEAM: {GPUMEM: 3999}})

    assert fitting.place(wanted) == "n1"
    assert fitting.used() == {GPUMEM: 4000}
    assert tight.place(wanted) == "1/1 ResourceQuotaNotFit"


def test_a_quota_that_is_overdrawn_refuses_even_who_asks_nothing_of_it() -> None:
    cluster = QuotaCluster([registered(cards("GPU-a", "GPU-b"))], {TEAM: {GPUCORES: 50}})
    cluster.ledger.quotas.stand(TEAM, ((GPUCORES, 60),))

    assert cluster.place(pod(container(gpu=1, mem=1000))) == "2/2 ResourceQuotaNotFit"


def test_without_quotas_nothing_is_counted() -> None:
    cluster = QuotaCluster([FOUR])

    assert cluster.place(pod(container(gpu=2, mem=1000))) == "node1"
    assert cluster.ledger.quotas.counts() == {}
    assert FAMILY.place(ask(pod(container(gpu=1))), view(card())) == FAMILY.place(
        structs.replace(ask(pod(container(gpu=1))), allowance=Allowance()), view(card())
    )


def test_a_limit_of_0_lets_through_who_takes_nothing() -> None:
    quotas = Quotas({TEAM: {GPUCORES: 0}})
    cluster = QuotaCluster([registered([card()])], quotas.limits)

    assert cluster.place(pod(container(gpu=1, mem=1, cores=1))) == "1/1 ResourceQuotaNotFit"
    assert cluster.place(pod(container(gpu=1, mem=1), name="free")) == "n1"
