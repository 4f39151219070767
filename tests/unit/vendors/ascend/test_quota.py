"""Quotas of namespaces for NPUs: every kind of chip by itself, at admission only."""

import pytest
from msgspec.structs import replace

from springtide.engine.placement.admission import denial
from springtide.model.device import Allocation, Grant
from springtide.model.device_columns import DeviceColumns
from springtide.model.quotas import Quotas
from springtide.vendors.ascend import FAMILY, Ascend
from springtide.vendors.ascend.config import DEFAULT_CONFIG, AscendConfig
from tests.unit.vendors.ascend.building import ask, container, pod

WORD = "Ascend910B3"
MEMORY, CORES = f"huawei.com/{WORD}-memory", f"huawei.com/{WORD}-core"


def family(*, factor: int) -> Ascend:
    chips = [replace(each, memory_factor=factor) for each in DEFAULT_CONFIG.chips]
    return Ascend(AscendConfig(chips=tuple(chips)))


def grant(device_id: str, mib: int, *, word: str = WORD, cores: int = 0) -> Grant:
    return Grant(device_id=device_id, type=word, memory_mib=mib, cores=cores)


@pytest.mark.parametrize(
    ("memory", "is_denied"),
    [pytest.param(4096, False, id="T100 small"), pytest.param(8193, True, id="T100 large")],
)
def test_a_limit_is_in_the_unit_of_users(memory: int, *, is_denied: bool) -> None:
    npus = family(factor=4)
    quotas = Quotas({"team-a": {MEMORY: 8192 * npus.quota_factors()[MEMORY]}})

    found = denial(pod(container(count=1, memory=memory)), {npus.name: npus}, quotas=quotas)

    assert (found is not None) is is_denied


def test_chips_of_one_kind_count_for_their_own_names_only() -> None:
    held = Allocation(
        family="Ascend",
        containers=(
            (grant("a", 4096), grant("p", 3072, word="Ascend310P")),
            (grant("a", 1000, cores=10),),
            (grant("b", 2000),),
        ),
        init_count=1,
    )

    assert dict(FAMILY.charges(held)) == {
        MEMORY: 6096,
        CORES: 10,
        "huawei.com/Ascend310P-memory": 3072,
        "huawei.com/Ascend310P-core": 0,
    }


def test_several_chips_and_containers_add_up_and_init_containers_do_not() -> None:
    wanted = pod(
        container("a", count=2, memory=100),
        container("b", count=1, memory=50),
        init=[container("i", count=1, memory=240), container("j", count=1, memory=200)],
    )

    assert FAMILY.stated(wanted) == ((MEMORY, 250), (CORES, 0))


def test_placing_does_not_look_at_quotas() -> None:
    wanted = ask(pod(container(count=1)))

    assert FAMILY.most(wanted, DeviceColumns("Ascend", 1)) == ()
    assert FAMILY.within(wanted, {MEMORY: 0}) is wanted
