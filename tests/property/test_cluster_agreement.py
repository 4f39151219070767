"""All rules at once say what the plain ones say, on clusters of hundreds of nodes.

Clusters and what happens in them are drawn from a seed: too large for a search by examples, large
enough that columns grow, answers are shared among asks, and every rule meets every other one.
"""

import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from springtide.engine.framework.ask import ask_of
from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.framework.rule import Ready, Rule, Skipped, selection
from springtide.engine.placement.classes import Classifier, PodClass, standing_holding
from springtide.engine.placement.placing import holding
from springtide.engine.placement.table import FITS
from springtide.engine.placement.tables import Tables
from springtide.model.ledger import Ledger
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.presence import standing
from tests.reference import framework as reference
from tests.worlds import KEYS, NAMESPACES, World, world

RULES = (
    "NodeName",
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
)
CONFIG = FrameworkConfig()
NODES, RUNNING = 300, 3000


class Twin:
    """One cluster twice: as an overlay with its tables, and as plain lists with their history."""

    def __init__(self, drawn: World) -> None:
        self.storage = drawn.storage
        self.overlay = Overlay(ledger_of(drawn.nodes, drawn.running))
        self.tables = Tables(self.overlay.ledger, Framework(CONFIG, drawn.storage), {})
        self.classify = Classifier({}, keys=KEYS).classify
        self._states: list[tuple[list[Node], dict[str, Pod]]] = [
            (list(drawn.nodes), {each.uid: each for each in drawn.running})
        ]

    @property
    def nodes(self) -> list[Node]:
        return self._states[-1][0]

    @property
    def running(self) -> dict[str, Pod]:
        return self._states[-1][1]

    def fork(self) -> None:
        self.overlay.fork()
        self._states.append((list(self.nodes), dict(self.running)))

    def revert(self) -> None:
        if self.overlay.depth:
            self.overlay.revert()
            self._states.pop()

    def commit(self) -> None:
        # The outermost fork stays open, so that everything can be taken back.
        if self.overlay.depth > 1:
            self.overlay.commit()
            self._states[-2:] = self._states[-1:]

    def add(self, node: Node) -> None:
        self.overlay.add_node(node)
        self.nodes.append(node)

    def add_like(self, node: Node, name: str) -> None:
        """Add another node that is as this one but for its name, as a plan does."""
        self.overlay.add_node(node, name=name)
        self.nodes.append(replace(node, name=name, labels={**node.labels, HOSTNAME_LABEL: name}))

    def place(self, pod: Pod) -> None:
        """Let the pod go to the first node that takes it, if there is one."""
        pod_class = self.classify(pod)
        found = self.tables.first_fit(pod_class, self.tables.candidates(pod_class))
        if found is not None and pod.uid not in self.running:
            self.overlay.hold(holding(pod.uid, pod_class, found))
            self.running[pod.uid] = replace(pod, node_name=self.nodes[found.row].name)

    def release(self, uid: str) -> None:
        if uid in self.running:
            self.overlay.release(uid)
            del self.running[uid]

    def told(self, pod: Pod) -> dict[str, reference.Status | None]:
        """Return what the tables say of every node."""
        pod_class = self.classify(pod)
        codes = self.tables.table(pod_class).code
        return {
            node.name: None if codes[row] == FITS else self._status(pod_class, row)
            for row, node in enumerate(self.nodes)
        }

    def expected(self, pod: Pod) -> dict[str, reference.Status | None]:
        """Return what the plain rules say of every node."""
        running = list(self.running.values())
        return reference.verdicts(
            pod, self.nodes, running, CONFIG, namespaces=NAMESPACES, storage=self.storage
        )

    def told_of_all(self, drawn: World) -> list[dict[str, reference.Status | None]]:
        """Return what the tables say of every node to every kind of pod."""
        return [self.told(pod) for pod in drawn.pending]

    def expected_of_all(self, drawn: World) -> list[dict[str, reference.Status | None]]:
        """Return what the plain rules say of every node to every kind of pod."""
        return [self.expected(pod) for pod in drawn.pending]

    def _status(self, pod_class: PodClass, row: int) -> reference.Status:
        refusal = self.tables.refusal(pod_class, row)
        return refusal.rule, refusal.is_unresolvable, refusal.reasons


def ledger_of(nodes: Sequence[Node], running: Sequence[Pod]) -> Ledger:
    ledger = Ledger()
    ledger.namespaces = NAMESPACES
    for node in nodes:
        ledger.add_node(node)
    rows = [(each, ledger.rows[each.node_name]) for each in running]
    ledger.hold_all([standing_holding(pod, row, presence=standing(pod, KEYS)) for pod, row in rows])
    return ledger


STEPS = ("fork", "revert", "commit", "add", "like", "place", "place", "place", "release")


def happen(twin: Twin, drawn: World, rng: random.Random, steps: Sequence[str] = STEPS) -> None:
    """Let one of these things happen in the cluster."""
    match rng.choice(steps):
        case "fork":
            twin.fork()
        case "revert":
            twin.revert()
        case "commit":
            twin.commit()
        case "add":
            twin.add(drawn.another_node())
        case "like":
            twin.add_like(rng.choice(drawn.nodes), f"new-{len(twin.nodes)}")
        case "place":
            pod = rng.choice(rng.choice((drawn.pending, drawn.absent)))
            for _ in range(rng.randint(1, 10)):
                twin.place(drawn.replica(pod))
        case _:
            for uid in rng.sample(sorted(twin.running), 20):
                twin.release(uid)


@pytest.mark.parametrize("seed", range(4))
def test_tables_say_after_every_step_what_the_plain_rules_say(seed: int) -> None:
    drawn, rng = world(seed, nodes=NODES, running=RUNNING), random.Random(seed)
    twin = Twin(drawn)
    asked = rng.sample(drawn.pending, 6)

    for _ in range(8):
        happen(twin, drawn, rng)
        for pod in (rng.choice(asked), rng.choice(drawn.pending)):
            assert twin.told(pod) == twin.expected(pod), pod.name

    twin.overlay.ledger.check()


def test_every_class_is_followed_through_forks_and_reverts() -> None:
    drawn, rng = world(9, nodes=120, running=600), random.Random(9)
    twin = Twin(drawn)
    before = twin.told_of_all(drawn)
    twin.fork()
    for pod in drawn.absent:
        twin.place(drawn.replica(pod))
    placed, plain = twin.told_of_all(drawn), twin.expected_of_all(drawn)
    twin.fork()
    for _ in range(30):
        happen(twin, drawn, rng, ("place", "release", "add", "like", "fork", "commit"))
    later, plain_later = twin.told_of_all(drawn), twin.expected_of_all(drawn)

    while twin.overlay.depth:
        twin.revert()

    assert placed == plain
    assert placed != before
    assert later == plain_later
    assert twin.told_of_all(drawn) == before


@pytest.mark.parametrize("seed", range(10, 13))
def test_each_rule_alone_says_what_the_plain_one_says(seed: int) -> None:
    drawn = world(seed, nodes=NODES, running=RUNNING)
    ledger = ledger_of(drawn.nodes, drawn.running)
    rules = {rule.name: rule for rule in Framework(CONFIG, drawn.storage).rules}

    for pod in drawn.unrejected():
        expected = reference.alone(
            pod, drawn.nodes, drawn.running, CONFIG, namespaces=NAMESPACES, storage=drawn.storage
        )
        ours = {name: list(said(rules[name], pod, ledger)) for name in RULES}

        assert ours == expected


def said(rule: Rule, pod: Pod, ledger: Ledger) -> Iterator[reference.Status | None]:
    """Yield what a rule says alone, row by row."""
    prepared = rule.prepare(ask_of(pod, with_identity=True), ledger)
    if isinstance(prepared, Skipped):
        yield from [None] * ledger.count
        return
    assert isinstance(prepared, Ready)
    outcome = prepared.check.evaluate(ledger, selection(np.arange(ledger.count)))
    for row in range(ledger.count):
        if outcome is None or not outcome.refused[row]:
            yield None
        else:
            bits = 1 if outcome.detail is None else int(outcome.detail[row])
            yield rule.name, bool(outcome.unresolvable[row]), prepared.check.reasons(bits)
