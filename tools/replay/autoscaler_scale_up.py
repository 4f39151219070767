"""Recorded scale-up decisions of the Cluster Autoscaler, compared with ours.

A case goes the product's own way from templates to the decision: groups and their nodes become
templates, pending pods become batches (here by controller, as the original groups them), and the
engine decides. What the recording's provider and record keeper know is given to the engine as it
would be live: groups in backoff, groups that are not safe to grow, prices, priorities.

`random` is left out of a chain: the recording, too, takes the first of equal options.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import structs

from springtide.base.names import CPU, MEMORY, PODS
from springtide.engine.capacity import events
from springtide.engine.capacity.batches import Batch
from springtide.engine.capacity.decision import Decision, Remaining, decide
from springtide.engine.capacity.estimate import Estimate, estimate
from springtide.engine.capacity.explain import LIMIT
from springtide.engine.capacity.options import Expander, Option
from springtide.engine.capacity.quotas import Allowance, Quota, Tracker
from springtide.engine.capacity.scene import Bounds, Candidate, Manner, Scene, limiter
from springtide.engine.capacity.similarity import Similarity
from springtide.engine.capacity.start import Start, begin_all
from springtide.engine.framework.framework import Framework
from springtide.engine.placement.classes import standing_amounts
from springtide.engine.placement.tables import Tables
from springtide.engine.simulation.daemons import expected
from springtide.engine.simulation.templates import Fleet, Source, Template, build, serves
from springtide.model.device import Inventory
from springtide.model.group import NodeGroup, PriorityRules
from springtide.model.node import HOSTNAME_LABEL, Node
from springtide.model.overlay import Overlay
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal
from springtide.model.workload import DaemonSet
from springtide.policies.expanders import PriceModel, Random, chain
from springtide.wire import priorities
from springtide.wire.errors import MalformedObject
from springtide.wire.k8s import Parts, schema
from springtide.wire.k8s.workloads import to_daemon_set
from tools.replay.autoscaler import (
    Case,
    StandingClock,
    classifier_of,
    copies_of,
    ledger_of,
    node_of,
    pending_of,
    pod_of,
)

CORES_MAX: Final = 320_000
MEMORY_MAX: Final = 6_400_000 << 30
REMEMBERED_PER_OWNER: Final = 10
NOT_READY: Final = Refusal(rule=LIMIT, reasons=("not ready for scale-up",))
TIED_BY_NAME: Final = "node(s) didn't satisfy plugin(s)"
UNREADY_MAX: Final = 3
UNREADY_SHARE_MAX: Final = 0.45
DELETED_TAINT: Final = "ToBeDeletedByClusterAutoscaler"
IN_BACKOFF: Final = Refusal(rule=LIMIT, reasons=("in backoff after failed scale-up",))

EXISTING: Final = "existing nodes: the original counts those that took a pod as new ones"
WHOLE: Final = "groups of all or none: the original lets them share the nodes of similar groups"
QUOTAS: Final = "quotas: the original takes all nodes of a group for equal"

_ACCELERATOR: Final = "TestGPULabel/accelerator"
_POOL: Final = "node-pool"


def replay_scale_up(case: Case) -> list[str]:
    """Return where our decision differs from the recorded one."""
    return _differences(case["result"], _World(case["input"]))


def listed_difference(case: Case) -> str | None:
    """Return the one thing that we do otherwise on purpose and that explains all, or None.

    The original lets groups of all or none share new nodes, and so leaves them with a part. It counts the nodes that were there before and took a pod as new ones; quotas of the
    original take all nodes of a group, new ones too, to be as large as the first that it saw.
    """
    recorded, given = case["result"], case["input"]
    if _shares_with_whole(recorded, given):
        return WHOLE
    if not _differences(recorded, _World(given, counts_existing=True)):
        return EXISTING
    nodes = [node_of(entry["node"], Parts()) for entry in given["nodes"]]
    first: dict[str, Node] = {}
    for entry, each in zip(given["nodes"], nodes, strict=True):
        first.setdefault(entry.get("group", ""), each)
    first.pop("", None)
    is_equal = not _differences(recorded, _World(given, first, counts_existing=True))
    return QUOTAS if is_equal else None


def _shares_with_whole(recorded: Case, given: Case) -> bool:
    whole = {each["id"] for each in given["nodeGroups"] if each.get("zeroOrMax")}
    return any(whole.intersection(each.get("similarGroups", ())) for each in recorded["options"])


def _differences(recorded: Case, world: "_World") -> list[str]:
    ours = world.shown(decide(world.scene(), world.chain()))
    return [
        f"{name}: recorded {_brief(recorded.get(name))}, ours {_brief(found)}"
        for name, found in ours.items()
        if name in recorded and found != recorded[name]
    ]


class _FirstSeen(Tracker):
    """Quotas as the original counts them: every node of a group is as large as the first."""

    def __init__(self, quotas: Sequence[Quota], first: Mapping[str, Node]) -> None:
        super().__init__(quotas)
        self._first = first

    def allowed(self, template: Template, wanted: int) -> Allowance:
        """Return how many new nodes are allowed if they are like the group's first."""
        return super().allowed(self._as_seen(template), wanted)

    def consume(self, template: Template, count: int) -> None:
        """Count new nodes as if they were like the group's first."""
        super().consume(self._as_seen(template), count)

    def _as_seen(self, template: Template) -> Template:
        seen = self._first.get(template.group.name, template.node)
        of = structs.replace(template.node, capacity=seen.capacity)
        return structs.replace(template, node=of)


class _World:
    """One case's cluster, provider and record keeper."""

    def __init__(
        self,
        given: Case,
        first: Mapping[str, Node] = MappingProxyType({}),
        *,
        counts_existing: bool = False,
    ) -> None:
        self._counts_existing = counts_existing
        self.given = given
        self.options = given["options"]
        self.parts = Parts()
        self.nodes: dict[str, list[Node]] = defaultdict(list)
        self.tracker: Tracker = _FirstSeen((self._quota(),), first)
        for entry in given["nodes"]:
            found = node_of(entry["node"], self.parts)
            self.nodes[entry.get("group", "")].append(found)
            self.tracker.count(first.get(entry.get("group", ""), found))
        self.fleet = self._fleet()
        self.priorities = _priorities(self.options.get("priorities"))
        self.groups = [self._group(entry) for entry in given["nodeGroups"]]
        self.sizes = {entry["id"]: entry["targetSize"] for entry in given["nodeGroups"]}
        self.templates = {group.name: self._template(group) for group in self.groups}
        self.overlay = Overlay(ledger_of(given, self.parts))
        self.starts: dict[str, Start] = {}

    # What is given to the engine

    def scene(self) -> Scene:
        """Return what is decided on."""
        waiting = list(self._batches(pending_of(self.given, self.parts)))
        tables = Tables(self.overlay.ledger, Framework(), {})
        known = [each for each in self.templates.values() if isinstance(each, Template)]
        found = begin_all(known, tables, self.overlay, [each.pod_class for each in waiting])
        self.starts = {start.template.group.name: start for start in found}
        return Scene(
            candidates=[self._candidate(group) for group in self.groups],
            waiting=waiting,
            tracker=self.tracker,
            node_count=self._node_count,
            estimator=self.estimate,
            bounds=self._bounds,
            manner=Manner(
                similarity=self._similarity(),
                is_all_or_nothing=self.options.get("allOrNothing", False),
                asks_skipped=self.options.get("simulateSkippedNodeGroups", False),
            ),
        )

    def chain(self) -> Sequence[Expander]:
        """Return the expanders, without chance."""
        prices = PriceModel(
            per_core_hour=self.options["podPricePerCoreHour"],
            per_gib_hour=self.options["podPricePerGiBHour"],
            cluster_size=self._node_count,
        )
        names = [name for name in self.options["expander"] if name != Random.name]
        return chain(names, prices=prices, rng=_NoChance())

    def estimate(
        self, candidate: Candidate, batches: Sequence[Batch], similar: Sequence[Candidate]
    ) -> Estimate:
        """Return how many nodes of the group the pods need."""
        bounded = limiter(
            candidate,
            similar,
            bounds=self._bounds,
            node_count=self._node_count,
            clock=StandingClock(),
        )
        start = self.starts[candidate.group.name]
        with self.overlay.trial():
            found = estimate(batches, start, bounded, fastpath=self.options.get("fastpath", False))
        if not self._counts_existing:
            return found
        return structs.replace(found, nodes=(*found.nodes, *found.elsewhere), elsewhere=())

    @property
    def _node_count(self) -> int:
        return len(self.given["nodes"])

    @property
    def _bounds(self) -> Bounds:
        return Bounds(
            nodes_per_step_max=self.options["maxNodesPerScaleUp"],
            nodes_total_max=self.options.get("maxNodesTotal", 0),
        )

    def _quota(self) -> Quota:
        cores = self.options.get("maxCoresTotal") or CORES_MAX
        memory = self.options.get("maxMemoryTotalBytes") or MEMORY_MAX
        return Quota(limits=((CPU, cores), (MEMORY, memory)))

    def _similarity(self) -> Similarity | None:
        if not self.options["balanceSimilarNodeGroups"]:
            return None
        return Similarity(ignored_labels=frozenset(self.options["balancingIgnoredLabels"]))

    # Groups and templates

    def _group(self, entry: Case) -> NodeGroup:
        described = entry.get("template")
        template = node_of(described["node"], self.parts) if described else None
        return NodeGroup(
            name=entry["id"],
            min_size=entry["minSize"],
            max_size=entry["maxSize"],
            size=entry["targetSize"],
            priority=self.priorities.of(entry["id"]),
            template=template,
            is_zero_or_max=entry.get("zeroOrMax", False),
        )

    def _template(self, group: NodeGroup) -> Template | Refusal:
        """Return the group's template, with the pods that the provider says a node starts with."""
        found = build(group, self.nodes[group.name], self.fleet)
        if isinstance(found, Refusal) or found.source is not Source.INPUT:
            return found
        entry = next(each for each in self.given["nodeGroups"] if each["id"] == group.name)
        own = tuple(pod_of(each, self.parts) for each in entry["template"]["pods"])
        return structs.replace(found, pods=(*own, *expected(self.fleet.daemons, found.node, own)))

    def _candidate(self, group: NodeGroup) -> Candidate:
        template = self.templates[group.name]
        start = self.starts.get(group.name)
        if isinstance(template, Template):
            priced = structs.replace(group, price=self._price(template))
            template = structs.replace(template, group=priced, inventories=_marked(template.node))
            group = priced
        else:
            template = NOT_READY
        return Candidate(
            group=group,
            size=self.sizes[group.name],
            template=template,
            verdicts=start.verdicts if start is not None else {},
            closed=self._closed(group.name),
        )

    def _price(self, template: Template) -> float | None:
        """Return what the provider takes for a node: by the pool in its label."""
        pool = template.node.labels.get(_POOL)
        prices = {each["id"]: each.get("pricePerHour") for each in self.given["nodeGroups"]}
        return prices.get(pool or "")

    def _closed(self, name: str) -> Refusal | None:
        """Return what the record keeper says: no request is open, so the target is what is due."""
        has_failed = name in self.options.get("backedOffNodeGroups", ())
        # A back-off is kept by template, so a group without one cannot be in it.
        if not self._is_healthy(name) or isinstance(self.templates[name], Refusal):
            return NOT_READY
        return IN_BACKOFF if has_failed else None

    def _is_healthy(self, name: str) -> bool:
        own, target = self.nodes[name], int(self.sizes[name])
        if not own:
            return target == 0
        counted = [each for each in own if all(t.key != DELETED_TAINT for t in each.taints)]
        missing = target - sum(serves(each) for each in counted)
        return missing <= UNREADY_MAX or missing <= UNREADY_SHARE_MAX * len(counted)

    def _fleet(self) -> Fleet:
        pods_on: dict[str, list[Pod]] = defaultdict(list)
        for entry in self.given["pods"]:
            made = copies_of(entry["pod"], range(len(entry["on"])), self.parts)
            for each, place in zip(made, entry["on"], strict=True):
                pods_on[place].append(each)
        return Fleet(
            registered={},
            pods_on=pods_on,
            daemons=[_daemon_set(each, self.parts) for each in self.given.get("daemonSets") or ()],
            profiles=(),
            families=(),
        )

    def _batches(self, pods: Iterable[Pod]) -> Iterator[Batch]:
        """Yield the pods as the original parts them: by controller, labels and spec."""
        classifier = classifier_of(self.given, self.parts)
        found: list[list[Pod]] = []
        remembered: dict[str, list[list[Pod]]] = defaultdict(list)
        for each in pods:
            mine = remembered[each.owner.uid] if each.owner and not each.is_daemon else []
            same = next((item for item in mine if _are_alike(item[0], each)), None)
            if same is not None:
                same.append(each)
                continue
            found.append([each])
            if len(mine) < REMEMBERED_PER_OWNER:
                mine.append(found[-1])
        for item in found:
            yield Batch(classifier.classify(item[0]), tuple(item))

    # What is compared

    def shown(self, decision: Decision) -> dict[str, Any]:
        """Return the decision in the form of a recorded result."""
        after = {growth.name: growth.size_after for growth in decision.growths}
        return {
            "result": "ScaleUpSuccessful" if after else "ScaleUpNoOptionsAvailable",
            "options": sorted(map(_option, decision.options), key=lambda each: each["group"]),
            "bestOptions": sorted(
                option.group.name for option in (decision.choice.equal if decision.choice else ())
            ),
            "scaleUps": [
                {
                    "group": growth.name,
                    "currentSize": growth.size_before,
                    "newSize": growth.size_after,
                    "maxSize": self._max_size(growth.name),
                }
                for growth in sorted(decision.growths, key=lambda each: each.name)
            ],
            "sizeIncreaseCalls": sorted(
                f"{growth.name}:+{growth.count}" for growth in decision.growths
            ),
            "podsTriggeredScaleUp": sorted(pod.name for pod in decision.triggered),
            "podsAwaitEvaluation": sorted(pod.name for pod in decision.awaiting),
            "podsRemainUnschedulable": _remaining(decision.remaining),
            "podEvents": sorted(self._events(decision)),
            "targetSizesAfter": {**self.sizes, **after},
            "templates": {
                name: _shown_template(template)
                for name, template in self.templates.items()
                if isinstance(template, Template)
            },
        }

    def _events(self, decision: Decision) -> Iterator[str]:
        """Yield what is written on pods, with how many; the original's order within is of chance."""
        if decision.growths:
            grown = sorted(decision.growths, key=lambda growth: growth.name)
            text = events.triggered([(each, self._max_size(each.name)) for each in grown])
            yield f"{len(decision.triggered)} x Normal {events.TRIGGERED} {text}"
            return
        counts: Counter[str] = Counter()
        for item in decision.remaining:
            said = (_told(each) for _, each in (*item.rejected, *item.skipped))
            counts[_in_order(events.not_triggered(said))] += len(item.batch.pods)
        for text, count in counts.items():
            yield f"{count} x Normal {events.NOT_TRIGGERED} {text}"

    def _max_size(self, name: str) -> int:
        return next(group.max_size for group in self.groups if group.name == name)


class _NoChance:
    """A source of chance for chains that have none."""

    def choice_index(self, count: int) -> int:
        """Return the first."""
        return 0


def _daemon_set(raw: Case, parts: Parts) -> DaemonSet:
    data = msgspec.json.encode({"kind": "DaemonSet", **raw})
    read = msgspec.json.decode(data, type=schema.DaemonSet)
    return to_daemon_set(read, parts)


def _are_alike(one: Pod, other: Pod) -> bool:
    return one.spec == other.spec and one.labels == other.labels


def _priorities(text: str | None) -> PriorityRules:
    """Return the rules of a text; without a valid one all groups are equal."""
    try:
        return priorities.read(text or "")
    except MalformedObject:
        return PriorityRules(())


def _marked(of: Node) -> tuple[tuple[str, Inventory], ...]:
    """Return that the node has devices if its label says so, which is all that a price looks at."""
    if _ACCELERATOR not in of.labels:
        return ()
    return ((_ACCELERATOR, Inventory(_ACCELERATOR, ())),)


def _option(option: Option) -> dict[str, Any]:
    shown = {
        "group": option.group.name,
        "nodeCount": option.node_count,
        "pods": sorted(pod.name for pod in option.estimate.placed),
    }
    return {**shown, "similarGroups": sorted(option.similar)} if option.similar else shown


def _remaining(items: Iterable[Remaining]) -> list[dict[str, Any]]:
    merged: dict[str, dict[str, Any]] = {}
    for item in items:
        shown = {
            "rejectedGroups": {name: _reasons(each) for name, each in item.rejected},
            "skippedGroups": {name: _reasons(each) for name, each in item.skipped},
        }
        names = [pod.name for pod in item.batch.pods]
        merged.setdefault(repr(shown), {"pods": [], **shown})["pods"] += names
    for each in merged.values():
        each["pods"].sort()
    return sorted(merged.values(), key=lambda each: str(each["pods"]))


def _reasons(refusal: Refusal) -> list[str]:
    return sorted(_told(refusal).reasons)


def _told(refusal: Refusal) -> Refusal:
    """Return the refusal as it is told: without reason for a pod tied to another node by name."""
    reasons = tuple(each for each in refusal.reasons if not each.startswith(TIED_BY_NAME))
    return structs.replace(refusal, reasons=reasons)


def _in_order(text: str) -> str:
    """Return an event's text with what it lists sorted by text, as the recording has it."""
    start, colon, listed = text.partition(": ")
    return f"{start}{colon}{', '.join(sorted(listed.split(', ')))}"


def _shown_template(template: Template) -> dict[str, Any]:
    requested: dict[str, int] = defaultdict(int)
    for each in template.pods:
        for name, quantity in standing_amounts(each):
            if name != PODS and quantity:
                requested["cpuMilli" if name == CPU else name] += quantity
    return {
        "labels": {
            key: value for key, value in template.node.labels.items() if key != HOSTNAME_LABEL
        },
        "taints": [
            {
                "key": taint.key,
                **({"value": taint.value} if taint.value else {}),
                "effect": taint.effect,
            }
            for taint in template.node.taints
        ],
        "podCount": len(template.pods),
        "podsRequested": dict(requested),
        **({"unschedulable": True} if template.node.is_unschedulable else {}),
    }


def _brief(value: object, *, length_max: int = 300) -> str:
    text = repr(value)
    return text if len(text) <= length_max else f"{text[:length_max]}…"
