"""What users saw go wrong in the field, by number of the case, and the right outcome."""

from itertools import permutations

import pytest

from springtide.apps.planner.families import Policies, families
from springtide.base.quantity import of
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.tables import Tables
from springtide.model.device import Allocation, Device, Inventory
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.vendors.ascend import Ascend, config_from
from tests.clusters import admitted
from tests.unit.vendors.ascend.building import (
    Cluster,
    allocated,
    chip,
    container,
    ids,
    limits_after,
    pod,
    registered,
)

B4 = "Ascend910B4-1"
FC_026 = Ascend(
    config_from(
        {
            "vnpus": {
                "configs": [
                    {
                        "commonWord": B4,
                        "resourceName": f"huawei.com/{B4}",
                        "resourceMemoryName": f"huawei.com/{B4}-memory",
                        "memoryCapacity": 65536,
                        "memoryAllocatable": 65536,
                        "templates": [
                            {"name": "vir05_1c_16g", "memory": 16384},
                            {"name": "vir10_3c_32g", "memory": 32768},
                        ],
                    }
                ]
            }
        }
    )
)
C = "Ascend910C"
PAIRED = Ascend(
    config_from(
        {
            "vnpus": {
                "configs": [
                    {
                        "commonWord": C,
                        "resourceName": f"huawei.com/{C}",
                        "memoryAllocatable": 65536,
                        "superPod": True,
                    }
                ]
            }
        }
    )
)


def modules(prefix: str, count: int) -> list[Device]:
    return [
        chip(f"{prefix}{index}", word=C, index=index, slots=1, cores=100) for index in range(count)
    ]


@pytest.mark.parametrize(
    ("asked", "booked"), [(10000, 16384), (16384, 16384), (20000, 32768), (40000, 65536)]
)
def test_fc_026_slices_are_booked_at_template_size(asked: int, booked: int) -> None:
    after = limits_after(container("main", B4, count=1, memory=asked), family=FC_026)

    assert not isinstance(after, str)
    assert dict(after)[f"huawei.com/{B4}-memory"] == of(booked)


@pytest.mark.parametrize(
    ("count", "memory", "denial"),
    [
        (1, 70000, f"huawei.com/{B4}-memory 70000 is invalid"),
        (2, 16384, "vNPU not supported for multiple devices"),
    ],
)
def test_fc_026_what_no_template_serves_is_denied(count: int, memory: int, denial: str) -> None:
    answer = limits_after(container("main", B4, count=count, memory=memory), family=FC_026)

    assert answer == denial


def test_fc_026_a_chip_takes_as_many_slices_as_its_memory_holds() -> None:
    cluster = Cluster(registered(chip(word=B4, cores=100)), family=FC_026)
    for number in range(4):
        cluster.schedule(pod(container("main", B4, count=1, memory=16384), name=f"p{number}"))

    fifth = cluster.picks(pod(container("main", B4, count=1, memory=16384), name="fifth"))

    assert cluster.use("n1") == {"NPU-0": (4, 65536, 0)}
    assert fifth == {"n1": "1/1 CardTimeSlicingExhausted"}


def test_fc_027_one_chip_of_a_module_is_raised_to_two() -> None:
    after = limits_after(container("main", C, count=1), family=PAIRED)

    assert dict(after)[f"huawei.com/{C}"] == of(2)  # type: ignore[arg-type]  # limits, not a denial


def test_fc_027_an_odd_number_of_chips_is_denied() -> None:
    answer = limits_after(container("main", C, count=3), family=PAIRED)

    assert answer == "Ascend910C device request must be 1 or 2*n, got 3"


@pytest.mark.parametrize(
    ("count", "possible"),
    [(2, [{"C0", "C1"}, {"C2", "C3"}]), (4, [{"C0", "C1", "C2", "C3"}])],
)
def test_fc_027_whole_modules_are_given(count: int, possible: list[set[str]]) -> None:
    cluster = Cluster(registered(*modules("C", 4)), family=PAIRED)

    _, allocation = cluster.schedule(pod(container("main", C, count=count)))

    assert set(ids(allocation)[0]) in possible


def test_fc_037_half_modules_are_never_mixed() -> None:
    cluster = Cluster(
        registered(*modules("C", 6), name="n1"),
        registered(*modules("D", 4), name="n2"),
        family=PAIRED,
    )
    for number, (node, device) in enumerate([("n1", 3), ("n1", 5), ("n2", 1), ("n2", 2)]):
        prefix = "C" if node == "n1" else "D"
        cluster.run(f"r{number}", node, C, f"{prefix}{device},{C},65536,0:;")

    four = cluster.picks(pod(container("main", C, count=4), name="four"))
    two = cluster.picks(pod(container("main", C, count=2), name="two"))

    assert isinstance(four["n1"], str)
    assert "2/4 AllocatedCardsInsufficientRequest" in four["n1"]
    assert two["n1"] == [["C1", "C0"]]
    assert isinstance(two["n2"], str)
    assert "0/2 AllocatedCardsInsufficientRequest" in two["n2"]


FC_031_NODES = {
    "b3": ("node-register-Ascend910B3", "N3-0", 65536, "Ascend910B3", ""),
    "b4": ("node-register-Ascend910B4", "N4-0", 32768, "Ascend910B4", ""),
    "g": ("node-nvidia-register", "GPU-a", 15360, "NVIDIA-Tesla T4", "hami-core"),
}
FC_031_PODS = {
    "p3": {"huawei.com/Ascend910B3": 1, "huawei.com/Ascend910B3-memory": 32768},
    "p4": {"huawei.com/Ascend910B4": 1},
    "pg": {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 1000, "nvidia.com/gpucores": 10},
}


def several_families() -> Tables:
    """Return a cluster of three kinds of accelerator, as the planner sees it."""
    known = families(None, Policies())
    ledger = Ledger()
    for name, (key, device_id, memory_mib, model, mode) in FC_031_NODES.items():
        registration = (
            f'[{{"id":"{device_id}","count":4,"devmem":{memory_mib},"devcore":100,'
            f'"type":"{model}","mode":"{mode}","health":true}}]'
        )
        node = Node(
            name=name,
            annotations={f"hami.io/{key}": registration},
            allocatable=(("cpu", of(8)), ("pods", of(10))),
        )
        found = {each: family.inventory(node) for each, family in known.items()}
        ledger.add_node(node, {k: v for k, v in found.items() if isinstance(v, Inventory)})
    managed = frozenset(name for family in known.values() for name in family.resource_names())
    return Tables(ledger, Framework(FrameworkConfig(ignored_resources=managed)), known)


def nodes_for(tables: Tables, wanted: Pod) -> list[str]:
    for family in tables.families.values():
        wanted = admitted(family, wanted)
    pod_class = Classifier(tables.families).classify(wanted)
    rows = range(tables.ledger.count)
    return [
        tables.ledger.names[row]
        for row in rows
        if not isinstance(tables.place(pod_class, row), Refusal)
    ]


@pytest.mark.parametrize("order", list(permutations(FC_031_PODS)))
def test_fc_031_families_do_not_get_in_each_others_way(order: tuple[str, ...]) -> None:
    tables = several_families()

    found = {
        name: nodes_for(tables, pod(container(**FC_031_PODS[name]), name=name)) for name in order
    }

    assert found == {"p3": ["b3"], "p4": ["b4"], "pg": ["g"]}


def test_fc_031_what_others_wrote_is_not_ours() -> None:
    theirs = pod(annotations={"hami.io/vgpu-devices-allocated": "GPU-a,NVIDIA,100,0:;"})

    assert Ascend().decode(theirs) is None
    ours = Ascend().decode(pod(annotations={allocated(C): f"C0,{C},65536,0:;"}))
    assert isinstance(ours, Allocation)
