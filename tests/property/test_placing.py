"""Pods placed one by one: kept tables, no tables and a plain reference decide the same.

Clusters of cards of every mode, and pods under every policy that come and go, are drawn from a seed.
The plain reference asks node after node: the rules in official order, then the cards one by one, and
takes the first node with the highest score. Topology policies have no plain reference; there the two
ways of tables are held against the exact fit of every node.
"""

import random
from collections.abc import Iterator

import numpy as np
import pytest
from msgspec.structs import replace

from springtide.base.names import is_extended_resource
from springtide.base.taints import Taint, Toleration
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.choice import best_fit
from springtide.engine.placement.classes import Classifier
from springtide.engine.placement.placing import Placement, holding
from springtide.engine.placement.tables import Tables
from springtide.model.device import Allocation, Device, DeviceView, Inventory
from springtide.model.ledger import Ledger
from springtide.model.node import Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Container, Pod
from springtide.model.refusal import Refusal
from springtide.vendors.nvidia import NvidiaAsk
from tests.builders import card, mig_card, node, pod, resources
from tests.estimates import FAMILIES, NVIDIA
from tests.ledgers import content
from tests.reference import framework as rules
from tests.reference import nvidia as reference

NODES, PODS = 24, 90
MANAGED = frozenset(name for name in NVIDIA.resource_names() if is_extended_resource(name))
CONFIG = FrameworkConfig(ignored_resources=MANAGED)
MODELS = (("NVIDIA-A10", 24576), ("NVIDIA-A100", 40960), ("NVIDIA", 16384))
DEVICE_POLICIES = ("binpack", "spread", "mutex", "numa", "numa,binpack", "binpack,mutex", "other")
F = np.float32


@pytest.mark.parametrize("seed", range(8))
def test_tables_kept_or_not_and_a_plain_reference_decide_the_same(seed: int) -> None:
    drawn = Drawn(seed)
    kept, fresh = drawn.tables(is_kept=True), drawn.tables(is_kept=False)
    overlay, placed = Overlay(drawn.ledger), 0

    for number in range(PODS):
        coming = drawn.pod(number)
        decision = decided(drawn, kept, coming)

        assert decided(drawn, fresh, coming) == decision
        assert decision == drawn.plain_decision(coming)
        if isinstance(decision, Placement):
            placed += 1
            drawn.running[coming.uid] = replace(coming, node_name=f"n{decision.row}")
            overlay.hold(holding(coming.uid, drawn.classify(coming), decision))
        if number % 4 == 3 and drawn.running:
            gone = drawn.chance.choice(sorted(drawn.running))
            del drawn.running[gone]
            overlay.release(gone)
        drawn.ledger.check()
        assert [each for each in drawn.ledger.overcommitted() if "nvidia.com" not in each] == []

    assert PODS // 3 < placed < PODS


@pytest.mark.parametrize("seed", range(4))
def test_topology_policies_are_decided_by_the_exact_fit_whatever_is_kept(seed: int) -> None:
    drawn = Drawn(seed, device_policies=("topology-aware", "topology-aware,binpack"))
    kept, fresh = drawn.tables(is_kept=True), drawn.tables(is_kept=False)

    for number in range(PODS // 2):
        coming = drawn.pod(number)
        decision = decided(drawn, kept, coming)

        assert decided(drawn, fresh, coming) == decision
        pod_class = drawn.classify(coming)
        takers = [row for row in range(NODES) if isinstance(fresh.place(pod_class, row), Placement)]
        for row in takers if pod_class.asks else ():
            view = drawn.ledger.view(row, NVIDIA.name)
            assert view is not None
            assert isinstance(NVIDIA.place(pod_class.asks[0], view), Allocation)
        if isinstance(decision, Placement):
            assert decision.row in takers
            drawn.ledger.hold(holding(coming.uid, pod_class, decision))
        else:
            assert not takers


@pytest.mark.parametrize("seed", range(4))
def test_taking_back_what_was_tried_restores_every_byte_and_every_answer(seed: int) -> None:
    drawn = Drawn(seed)
    tables, overlay = drawn.tables(is_kept=True), Overlay(drawn.ledger)
    asking = [drawn.pod(1_000 + number) for number in range(12)]
    for number in range(PODS // 3):
        drawn.place(drawn.pod(number), tables, overlay)
    before = content(drawn.ledger)
    answers = [decided(drawn, tables, each) for each in asking]

    overlay.fork()
    for number in range(PODS // 3, PODS // 2):
        drawn.place(drawn.pod(number), tables, overlay)
    overlay.release(drawn.chance.choice(sorted(drawn.ledger.holdings)))
    overlay.revert()

    assert content(drawn.ledger) == before
    assert [decided(drawn, tables, each) for each in asking] == answers


Refused = dict[str, int]
"""How many nodes refuse with these words."""


def decided(drawn: "Drawn", tables: Tables, coming: Pod) -> Placement | Refused:
    """Return where a pod goes, or the words of every node."""
    pod_class = drawn.classify(coming)
    found = best_fit(pod_class, tables)
    if found is not None:
        return found
    told = tables.histogram(pod_class, below=NODES)
    words: Refused = {}
    for refusal, nodes in told:
        words[refusal.text] = words.get(refusal.text, 0) + nodes
    return words


class Drawn:
    """A cluster and its pods, drawn from a seed."""

    def __init__(self, seed: int, *, device_policies: tuple[str, ...] = DEVICE_POLICIES) -> None:
        self.chance = random.Random(seed)
        self.ledger = Ledger()
        self.running: dict[str, Pod] = {}
        self.classify = Classifier(FAMILIES).classify
        self._device_policies = device_policies
        for number in range(NODES):
            cards = self._cards(number)
            inventories = {NVIDIA.name: Inventory(NVIDIA.name, cards)} if cards else {}
            self.ledger.add_node(self._node(number), inventories)

    def tables(self, *, is_kept: bool) -> Tables:
        """Return tables over the ledger."""
        return Tables(self.ledger, Framework(CONFIG), FAMILIES, is_kept=is_kept)

    def place(self, coming: Pod, tables: Tables, overlay: Overlay) -> None:
        """Place a pod where it fits best, if anywhere."""
        pod_class = self.classify(coming)
        found = best_fit(pod_class, tables)
        if found is not None:
            overlay.hold(holding(coming.uid, pod_class, found))

    def pod(self, number: int) -> Pod:
        """Return a pod that asks for cards, mostly."""
        chance = self.chance
        asking = pod(
            f"pod-{number}",
            cpu=f"{chance.choice((250, 500, 2000))}m",
            gpu=chance.choice((0, 1, 1, 1, 2, 4)),
            gpumem=chance.choice((0, 2000, 5000, 12000, 30000)),
            gpucores=chance.choice((0, 0, 10, 30, 100)),
            annotations=dict(self._notes()),
            selector={"zone": "a"} if chance.random() < 0.15 else None,
            tolerations=(Toleration(operator="Exists"),) if chance.random() < 0.2 else (),
        )
        if chance.random() < 0.25:
            asking = self._with_another_container(asking)
        spec = NVIDIA.admit(asking)
        assert not isinstance(spec, Refusal)
        return replace(asking, spec=spec)

    def plain_decision(self, coming: Pod) -> Placement | Refused:
        """Return the decision that is made node after node."""
        nodes, rows = self.ledger.nodes, range(NODES)
        running = list(self.running.values())
        verdicts = rules.verdicts(coming, nodes, running, CONFIG)
        ask = NVIDIA.ask(coming)
        assert not isinstance(ask, Refusal)
        scores: dict[int, np.float32] = {}
        words: Refused = {}
        for row in rows:
            status = verdicts[nodes[row].name]
            text = self._plain_refusal(ask, row) if status is None else ", ".join(status[2])
            if not text:
                scores[row] = F(0) if ask is None else self._plain_score(ask, row)
            else:
                words[text] = words.get(text, 0) + 1
        if not scores:
            return words
        best = max(scores, key=lambda row: (scores[row], -row))
        return self._plain_placement(coming, ask, best)

    def _plain_refusal(self, ask: NvidiaAsk | None, row: int) -> str:
        if ask is None:
            return ""
        view = self.ledger.view(row, NVIDIA.name)
        if view is None:
            return "node unregistered"
        answer = reference.verdict(ask, view)
        return answer if isinstance(answer, str) else ""

    def _plain_score(self, ask: NvidiaAsk, row: int) -> np.float32:
        view = self.ledger.view(row, NVIDIA.name)
        assert view is not None
        load = plain_load(view)
        return -load if ask.node_policy == "spread" else load

    def _plain_placement(self, coming: Pod, ask: NvidiaAsk | None, row: int) -> Placement:
        if ask is None:
            return Placement(row=row)
        view = self.ledger.view(row, NVIDIA.name)
        assert view is not None
        picks = reference.verdict(ask, view)
        allocation = NVIDIA.place(ask, view)
        assert isinstance(allocation, Allocation)
        granted = [
            [(grant.device_id, grant.memory_mib, grant.cores) for grant in container]
            for container in allocation.containers
        ]
        assert granted == picks
        shares = ((NVIDIA.name, NVIDIA.shares(allocation, view.inventory)),)
        return Placement(row=row, allocations=(allocation,), shares=shares)

    def _node(self, number: int) -> Node:
        return node(
            f"n{number}",
            cpu=self.chance.choice((2, 4, 8)),
            labels={"zone": self.chance.choice("ab")},
            taints=(Taint(key="reserved"),) if self.chance.random() < 0.1 else (),
        )

    def _cards(self, number: int) -> tuple[Device, ...]:
        chance = self.chance
        if chance.random() < 0.1:
            return ()
        if chance.random() < 0.15:
            return (mig_card(f"MIG-{number}-0"), mig_card(f"MIG-{number}-1"))
        model, memory = chance.choice(MODELS)
        return tuple(
            card(
                f"GPU-{number}-{position}",
                memory=memory,
                model=model,
                numa=position % 2,
                slots=chance.choice((2, 10)),
                is_healthy=chance.random() > 0.05,
            )
            for position in range(chance.choice((1, 2, 4, 8)))
        )

    def _notes(self) -> Iterator[tuple[str, str]]:
        chance = self.chance
        yield "hami.io/gpu-scheduler-policy", chance.choice(self._device_policies)
        yield "hami.io/node-scheduler-policy", chance.choice(("binpack", "spread"))
        if chance.random() < 0.15:
            yield "nvidia.com/numa-bind", "true"
        if chance.random() < 0.2:
            yield "nvidia.com/use-gputype", chance.choice(("A10", "A100"))
        if chance.random() < 0.1:
            yield "nvidia.com/nouse-gpuuuid", f"GPU-{chance.randrange(NODES)}-0"
        if chance.random() < 0.1:
            yield "hami.io/device-scoring-weights", "slot=1,core=0,memory=3"

    def _with_another_container(self, asking: Pod) -> Pod:
        amounts = resources({"nvidia.com/gpu": 1, "nvidia.com/gpumem": 1500})
        other = Container(name="other", requests=amounts, limits=amounts)
        spec = asking.spec
        if self.chance.random() < 0.5:
            return replace(asking, spec=replace(spec, init_containers=(other,)))
        return replace(asking, spec=replace(spec, containers=(*spec.containers, other)))


def plain_load(view: DeviceView) -> np.float32:
    """Return how loaded a node is, in single precision, operation by operation."""
    pairs = [
        (sum(use.slots for use in view.uses), sum(each.slots for each in view.inventory.devices)),
        (sum(use.cores for use in view.uses), sum(each.cores for each in view.inventory.devices)),
        (
            sum(use.memory_mib for use in view.uses),
            sum(each.memory_mib for each in view.inventory.devices),
        ),
    ]
    if not all(total for _, total in pairs):
        return F(0)
    slots, cores, memory = (F(used) / F(total) for used, total in pairs)
    return F(10) * ((slots + cores) + memory)
