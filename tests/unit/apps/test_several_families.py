"""Pods and nodes with devices of several families, and HAMi's score of such nodes."""

import pytest

from springtide.apps.planner.families import Policies, families
from springtide.base.quantity import of
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.admission import admitted
from springtide.engine.placement.choice import best_fit
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.tables import Tables
from springtide.model.device import Inventory
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from tests.unit.vendors.nvidia.building import container, pod

CARD = (
    '[{{"id":"GPU-{name}","count":10,"devmem":8000,"devcore":100,"type":"NVIDIA-T4",'
    '"mode":"hami-core","health":true}}]'
)
CHIP = (
    '[{{"id":"NPU-{name}","count":10,"devmem":32768,"devcore":100,"type":"Ascend910B4",'
    '"health":true}}]'
)
NO_RULES = FrameworkConfig(filters=(), pre_filters=frozenset())
NPU = {"huawei.com/Ascend910B4": 1, "huawei.com/Ascend910B4-memory": 8192}


def both(name: str) -> Node:
    """Return a node with a card and a chip."""
    return Node(
        name=name,
        annotations={
            "hami.io/node-nvidia-register": CARD.format(name=name),
            "hami.io/node-register-Ascend910B4": CHIP.format(name=name),
        },
        allocatable=(("cpu", of(8)), ("pods", of(10))),
    )


def tables_of(*nodes: Node, is_strict: bool = False) -> Tables:
    known = families(None, Policies(is_strict=is_strict))
    ledger = Ledger()
    for node in nodes:
        found = {name: family.inventory(node) for name, family in known.items()}
        ledger.add_node(node, {k: v for k, v in found.items() if isinstance(v, Inventory)})
    return Tables(ledger, Framework(NO_RULES), known, is_strict=is_strict)


def placed(tables: Tables, wanted: Pod) -> Placement:
    """Return where the pod goes, and let it hold that."""
    answer = admitted(wanted, tables.families)
    assert not isinstance(answer, Refusal)
    pod_class = Classifier(tables.families).classify(answer)
    found = best_fit(pod_class, tables)
    assert found is not None
    tables.ledger.hold(holding(wanted.uid, pod_class, found))
    return found


def test_t56_each_family_gives_a_container_its_own_device() -> None:
    tables = tables_of(both("a"))

    found = placed(tables, pod(container(gpu=1, mem=1000, **NPU)))

    written = {
        key: text
        for each in found.allocations
        for key, text in tables.families[each.family].encode(each).items()
    }
    assert written["hami.io/vgpu-devices-allocated"] == "GPU-a,NVIDIA,1000,0:;"
    assert written["hami.io/Ascend910B4-devices-allocated"] == "NPU-a,Ascend910B4,8192,0:;"


def test_a_family_that_refuses_refuses_the_pod() -> None:
    tables = tables_of(both("a"))
    pod_class = Classifier(tables.families).classify(pod(container(gpu=2, mem=1, **NPU)))

    answer = tables.place(pod_class, 0)

    assert isinstance(answer, Refusal)
    assert answer.text == "NodeInsufficientDevice"


@pytest.mark.parametrize(("is_strict", "row"), [(False, 0), (True, 1)])
def test_hami_takes_the_devices_of_all_families_for_one_sum(*, is_strict: bool, row: int) -> None:
    tables = tables_of(both("a"), both("b"), is_strict=is_strict)
    busy_npu = pod(container(**NPU), name="npu")
    answer = admitted(busy_npu, tables.families)
    assert not isinstance(answer, Refusal)
    npu_class = Classifier(tables.families).classify(answer)
    on_b = tables.place(npu_class, 1)
    assert isinstance(on_b, Placement)
    tables.ledger.hold(holding("npu", npu_class, on_b))

    found = placed(tables, pod(container(gpu=1, mem=1000)))

    assert found.row == row


@pytest.mark.parametrize(("policy", "row"), [("binpack", 0), ("spread", 1)])
def test_a_strict_score_follows_the_node_policy(policy: str, row: int) -> None:
    tables = tables_of(both("a"), both("b"), is_strict=True)
    placed(tables, pod(container(gpu=1, mem=1000, **NPU), name="first"))
    notes = {"hami.io/node-scheduler-policy": policy}

    found = placed(tables, pod(container(gpu=1, mem=1000, **NPU), annotations=notes, name="next"))

    assert found.row == row
