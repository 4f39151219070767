"""Recorded HAMi decisions, replayed step by step through our own device families and compared.

A `World` keeps the cluster of one scenario: nodes as they register, pods as they are stored, a ledger
of who holds what. Every recorded step is performed with our own reading, placement and accounting,
and its recorded outcome compared: results, nodes, annotations, reasons, scores and the use of every
card afterwards. On the way every vector verdict is held against the exact placement.

Where we differ on purpose a `Difference` says so; such a step counts as skipped, never as passed.
Node locks and the timing of the register loop are not replayed: the tool takes from the
recording which nodes HAMi had registered, and checks that it reads the same devices.
"""

import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import structs

from springtide.base.quantity import Quantity, parse
from springtide.engine.placement.admission import EXCEEDED, denial
from springtide.engine.placement.family import Ask
from springtide.engine.placement.quota import bounded
from springtide.engine.placement.reasons import NODE_UNREGISTERED
from springtide.model.device import Allocation, Device, DeviceView, Inventory, Share
from springtide.model.ledger import Holding, Ledger
from springtide.model.node import Node
from springtide.model.pod import Pod, PodSpec
from springtide.model.quotas import Quotas
from springtide.model.refusal import Refusal
from springtide.wire.k8s import schema
from springtide.wire.k8s.nodes import to_node
from springtide.wire.k8s.parts import Parts
from springtide.wire.k8s.pods import to_pod
from tools.replay.hami_kinds import Json, Kind, kind_of
from tools.replay.hami_quotas import QuotaLimits

NODE: Final = "hami.io/vgpu-node"

STABLE_MAX: Final = 12
"""Up to so many devices HAMi's sort is stable, as ours always is."""


class Difference(msgspec.Struct, frozen=True):
    """A rule by which we answer differently on purpose, or do not answer here, and why."""

    name: str
    why: str


DIFFERENCES: Final = (
    Difference("bind", "Node locks and bindings are a live matter."),
    Difference("register loop", "When HAMi reads a registration again is a live matter."),
    Difference("admission", "Whom the webhook takes over or denies is not the family's matter."),
    Difference("crash", "HAMi crashes; we answer."),
    Difference("senseless quantity", "What makes no sense is refused; HAMi lets the pod pass."),
    Difference("spelling", "A whole number counts however it is spelled (1000m, 2.0)."),
    Difference("padding", "Every container has its entry; HAMi omits those without cards."),
    Difference("malformed registration", "We say malformed where HAMi says unregistered."),
    Difference("stable sort", "Above 12 devices HAMi's order of equal devices is not stable."),
    Difference("cordon at once", "What a node annotation says counts at once, in HAMi later."),
    Difference("other family", "What another family wrote unreadably does not hide our cards."),
    Difference("terminating", "A pod that is being deleted holds its cards until it is gone."),
    Difference("init ended", "Ended init containers cost nothing, after a restart either."),
    Difference("failed bind", "A pod that waits again after a failed bind holds nothing."),
    Difference("after a skip", "From there on the state differs by the rule before."),
)


class Report(msgspec.Struct):
    """What came of one scenario: steps that are equal, differences, skipped steps by rule."""

    equal: int = 0
    differences: list[str] = []
    skipped: Counter[str] = msgspec.field(default_factory=Counter)


class Skip(Exception):
    """From this step on a scenario cannot be compared, by a listed rule."""


def replay_scenario(scenario: Json, configs: Mapping[str, str]) -> list[str]:
    """Return where our answers differ from the recorded ones without a listed rule."""
    return replay(scenario, configs).differences


def replay(scenario: Json, configs: Mapping[str, str]) -> Report:
    """Replay one scenario."""
    report = Report()
    try:
        world = World(scenario, configs, report)
    except Skip as rule:
        report.skipped[str(rule)] += max(len(scenario.get("steps", ())), 1)
        return report
    steps = scenario["steps"]
    for index, step in enumerate(steps):
        before = len(report.differences)
        try:
            world.perform(step)
        except Skip as rule:
            report.skipped[str(rule)] += 1
            report.skipped["after a skip"] += len(steps) - index - 1
            return report
        if len(report.differences) > before:
            found = report.differences[before:]
            report.differences[before:] = [
                f"{scenario['id']} step {index} ({step['do']}): {text}" for text in found
            ]
            report.skipped["after a difference"] += len(steps) - index - 1
            return report
    return report


def load(path: Path) -> list[Json]:
    """Return the scenarios of a recording."""
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


class World:
    """The cluster of one scenario as we see it."""

    def __init__(self, scenario: Json, configs: Mapping[str, str], report: Report) -> None:
        self.report = report
        self.scenario = scenario
        self.flags = scenario["flags"]
        vendor = scenario["id"].partition("-")[0]
        self.kind = kind_of(vendor, configs[scenario["config"]], self.flags)
        self.family = self.kind.family
        self.families = {self.family.name: self.family}
        self.parts = Parts()
        self.nodes: dict[str, dict[str, Any]] = {}
        self.registered: dict[str, Inventory] = {}
        self.pods: dict[str, Pod] = {}
        self.tracked: dict[str, Pod] = {}
        self.unpadded: set[str] = set()
        self.is_any_order = False
        self.ledger = Ledger()
        self.limits = QuotaLimits(self.family)
        for quota in scenario["quotas"]:
            self.limits.set(quota)
        registered = scenario.get("registered", {"result": "panic"})
        if registered.get("result") == "panic":
            raise Skip("crash")
        for node in scenario["nodes"]:
            self.nodes[node["metadata"]["name"]] = json.loads(json.dumps(node))
        self._register(registered["devices"], refreshed=set(self.nodes))

    # Steps

    def perform(self, step: Json) -> None:
        """Perform one step and compare what came of it."""
        performers: dict[str, Callable[[Json, Json], None]] = {
            "schedule": self._schedule,
            "retry": self._schedule,
            "simulate": self._simulate,
            "observe": self._observe,
            "podStatus": self._pod_status,
            "delete": self._delete,
            "addNode": self._node_step,
            "updateNode": self._node_step,
            "deleteNode": self._node_step,
            "tick": self._node_step,
            "bind": self._bind,
            "setQuota": self._set_quota,
            "deleteQuota": self._delete_quota,
        }
        before = len(self.report.differences) + sum(self.report.skipped.values())
        outcomes = [each["outcome"] for each in step.get("outcomes", ())] or [step["outcome"]]
        self.is_any_order = self.kind.groups_by_chance and len(outcomes) > 1
        found: dict[object, list[list[str]]] = {}
        for outcome in outcomes:
            if outcome["result"] == "panic":
                raise Skip("crash")
            kept, self.report.differences = self.report.differences, []
            performers[step["do"]](step, outcome)
            if "usage" in outcome:
                self._compare_usage(outcome["usage"])
                self._compare_quotas(outcome["quota"])
            found.setdefault(outcome.get("node"), []).append(self.report.differences)
            self.report.differences = kept
        for answers in found.values():
            self.report.differences.extend(self._judged(answers))
        if len(self.report.differences) + sum(self.report.skipped.values()) == before:
            self.report.equal += 1

    def _judged(self, answers: list[list[str]]) -> list[str]:
        """Return what differs from the answers that HAMi gave with one node.

        Where chance decided, there are several; each of them has to be possible for us. Where it
        decided between groups of devices, ours has to be one of them, in any order of the groups.
        """
        if self.kind.groups_by_chance:
            return min(answers, key=len)
        return [difference for answer in answers for difference in answer]

    def _schedule(self, step: Json, outcome: Json) -> None:
        pod = self._pod_of(step)
        if pod is None:
            self._expect("result", outcome["result"], "absent")
            return
        if isinstance(pod, Refusal):
            self._expect("webhook", outcome.get("webhook", {}).get("message"), pod.text)
            return
        if step["nodes"] is None:
            raise Skip("crash")
        self._schedule_pod(pod, step, outcome)

    def _schedule_pod(self, pod: Pod, step: Json, outcome: Json) -> None:
        self.pods[pod.key] = pod
        ask = self.family.ask(pod)
        if ask is not None and outcome["result"] == "passed" and not isinstance(ask, Refusal):
            raise Skip("spelling")
        if ask is None:
            self._expect("result", outcome["result"], "passed")
            self._track(pod)
            return
        self.tracked.pop(pod.uid, None)
        self._recount()
        if isinstance(ask, Refusal):
            self._compare_senseless(ask, pod, outcome)
            return
        bound = self._bound(ask, pod.namespace)
        allocations, failed = self._filtered(bound, step["nodes"])
        if not allocations:
            self._expect("result", outcome["result"], "refused")
            self._expect("failedNodes", outcome.get("failedNodes"), failed)
            return
        self._expect("result", outcome["result"], "placed")
        if outcome["result"] == "placed":
            self._compare_placement(ask, pod, allocations, step, outcome)

    def _compare_senseless(self, refusal: Refusal, pod: Pod, outcome: Json) -> None:
        if outcome["result"] == "error":
            ours = f"calcScore failed {refusal.text} for pod {pod.name}"
            self._expect("error", outcome["error"], ours)
            return
        if outcome["result"] == "placed":
            raise Skip("senseless quantity")
        self.report.skipped["senseless quantity"] += 1

    def _compare_placement(
        self,
        ask: Ask,
        pod: Pod,
        allocations: Mapping[str, Allocation],
        step: Json,
        outcome: Json,
    ) -> None:
        scores = self._scores(ask, list(allocations))
        best = max(scores.values())
        node = outcome["node"]
        self._expect("scores", outcome["scores"], texts(scores))
        self._expect("node", node, node if scores.get(node) == best else sorted(scores))
        if node not in allocations:
            return
        annotations = self.family.encode(allocations[node])
        self._compare_annotations(annotations, node, pod, outcome["annotations"])
        stored = {**pod.annotations, **annotations, NODE: node}
        is_bound = step.get("bind", True)
        placed = structs.replace(
            pod,
            annotations=stored,
            node_name=node if is_bound else pod.node_name,
            phase="Running" if is_bound else pod.phase,
        )
        self.pods[pod.key] = placed
        self._track(placed)
        shares = self.family.shares(allocations[node], self.registered[node])
        held = self.ledger.holdings[pod.uid].shares[0][1]
        self._expect("shares read back", sorted_shares(shares), sorted_shares(held))

    def _compare_annotations(
        self, ours: Mapping[str, str], node: str, pod: Pod, recorded: Json
    ) -> None:
        is_padded = True
        for key in sorted(self.kind.texts & ours.keys()):
            theirs, text = self._ordered(recorded.get(key, "")), self._ordered(ours[key])
            if theirs == text:
                continue
            self._expect(key, theirs, unpadded(text))
            is_padded = False
        if not is_padded:
            self.report.skipped["padding"] += 1
            self.unpadded.add(pod.uid)
            return
        for key in sorted(self.kind.documents & (ours.keys() | recorded.keys())):
            documents = [json.loads(each.get(key, "[]")) or [] for each in (recorded, ours)]
            if self.is_any_order:
                documents = [sorted(each, key=json.dumps) for each in documents]
            self._expect(key, *documents)

    def _ordered(self, text: str) -> str:
        """Return an allocation, the devices of each container sorted where their order is chance."""
        if not self.is_any_order:
            return text
        return ";".join(":".join(sorted(segment.split(":"))) for segment in text.split(";"))

    def _simulate(self, step: Json, outcome: Json) -> None:
        pod = self._pod_of(step)
        if isinstance(pod, Refusal):
            self._expect("webhook", outcome.get("webhook", {}).get("message"), pod.text)
            return
        assert pod is not None
        ask = self.family.ask(pod)
        if ask is None:
            self._expect("result", outcome["result"], "passed")
            return
        if isinstance(ask, Refusal):
            self._compare_senseless(ask, pod, outcome)
            return
        inventories = self._templates(step["nodes"])
        ledger = Ledger()
        ledger.quotas = self.ledger.quotas
        for name, inventory in inventories.items():
            found = {self.family.name: inventory} if isinstance(inventory, Inventory) else {}
            ledger.add_node(Node(name=name), found)
        bound = self._bound(ask, pod.namespace, ledger=ledger)
        allocations, failed = self._filtered(bound, list(inventories), ledger=ledger)
        for name, inventory in inventories.items():
            if isinstance(inventory, Refusal):
                self._expect(
                    "malformed", (outcome.get("failedNodes") or {}).get(name), failed[name]
                )
                self.report.skipped["malformed registration"] += 1
        self._expect("failedNodes", outcome.get("failedNodes") or {}, failed)
        self._expect("result", outcome["result"], "placed" if allocations else "refused")
        if outcome["result"] == "placed":
            scores = self._scores(ask, list(allocations), ledger=ledger)
            best = [name for name, score in scores.items() if score == max(scores.values())]
            self._expect("nodes", set(), set(outcome["nodes"]) - set(best))

    def _observe(self, step: Json, outcome: Json) -> None:
        pod = self._decoded(step["pod"])
        self.pods[pod.key] = pod
        if NODE in pod.annotations and pod.is_terminating and not pod.is_finished:
            raise Skip("terminating")
        if pod.is_init_done:
            raise Skip("init ended")
        self._track(pod)
        if not outcome["tracked"] and pod.uid in self.tracked and len(allocations_of(pod)) > 1:
            raise Skip("other family")
        self._expect("tracked", outcome["tracked"], pod.uid in self.tracked)

    def _pod_status(self, step: Json, outcome: Json) -> None:
        pod = self.pods.get(step["pod"])
        if pod is None:
            self._expect("result", outcome["result"], "absent")
            return
        status = step.get("status", {})
        read = schema_pod({"metadata": {"name": pod.name}, "status": status})
        news = to_pod(read, self.parts)
        pod = structs.replace(
            pod,
            phase=news.phase if "phase" in status else pod.phase,
            is_init_done=news.is_init_done
            if "initContainerStatuses" in status
            else pod.is_init_done,
            is_terminating=step.get("terminating", pod.is_terminating),
        )
        self.pods[pod.key] = pod
        if pod.uid in self.tracked or not pod.is_terminating:
            self._track(pod)
        self._expect("tracked", outcome["tracked"], pod.uid in self.tracked)

    def _delete(self, step: Json, outcome: Json) -> None:
        pod = self.pods.pop(step["pod"], None)
        if pod is None:
            self._expect("result", outcome["result"], "absent")
            return
        self.tracked.pop(pod.uid, None)
        self._recount()

    def _bind(self, step: Json, outcome: Json) -> None:
        del outcome
        pod = self.pods.get(step["pod"])
        if pod is None or step["node"] not in self.nodes:
            raise Skip("bind")
        self.report.skipped["bind"] += 1

    def _node_step(self, step: Json, outcome: Json) -> None:
        refreshed: set[str] = set()
        match step["do"]:
            case "addNode":
                name = step["node"]["metadata"]["name"]
                self.nodes[name] = json.loads(json.dumps(step["node"]))
                refreshed = {name}
            case "deleteNode":
                del self.nodes[step["node"]]
                self.registered.pop(step["node"], None)
            case "updateNode":
                refreshed = self._update_node(step)
            case _:
                pass
        self._register(outcome["devices"], refreshed=refreshed)

    def _update_node(self, step: Json) -> set[str]:
        node = self.nodes[step["node"]]
        before = fingerprint(node, self.kind)
        for part, home in (("annotations", "metadata"), ("labels", "metadata"),
                           ("capacity", "status"), ("allocatable", "status")):  # fmt: skip
            target = node[home].setdefault(part, {})
            for key, value in step.get(part, {}).items():
                if value is None:
                    target.pop(key, None)
                else:
                    target[key] = value
        if fingerprint(node, self.kind) != before:
            return {step["node"]}
        if self.kind.is_reread_on_report and self._is_reported(step):
            return {step["node"]}
        if self.kind.at_once in step.get("annotations", {}):
            self.report.skipped["cordon at once"] += 1
        return set()

    def _is_reported(self, step: Json) -> bool:
        notes = step.get("annotations", {})
        return any("Reported" in (notes.get(key) or "") for key in self.kind.handshakes)

    # Reading

    def _pod_of(self, step: Json) -> Pod | Refusal | None:
        if step["do"] == "retry":
            return self.pods.get(step["pod"])
        pod = self._decoded(step["pod"])
        if not step.get("webhook", True):
            return pod
        recorded = (step.get("outcome") or step["outcomes"][0]["outcome"]).get("webhook", {})
        message = recorded.get("message", "")
        is_own = message == EXCEEDED or self.kind.is_own_denial(message)
        if not recorded.get("allowed") and not is_own:
            raise Skip("admission")
        if "already has different scheduler" in message:
            return pod
        spec = self.family.admit(pod)
        if isinstance(spec, Refusal):
            return spec
        self._compare_admission(spec, recorded)
        admitted = structs.replace(pod, spec=spec)
        return denial(admitted, self.families, quotas=self.ledger.quotas) or admitted

    def _compare_admission(self, spec: PodSpec, recorded: Json) -> None:
        changed = recorded.get("containers", {})
        for container in (*spec.init_containers, *spec.containers):
            limits = changed.get(container.name, {}).get("limits")
            if limits is not None:
                numbers = {name: parse(text) for name, text in limits.items()}
                self._expect("limits", nano(numbers), nano(dict(container.limits)))

    def _decoded(self, pod: Json) -> Pod:
        return to_pod(schema_pod(pod), self.parts)

    def _node(self, node: Json) -> Node:
        return to_node(msgspec.json.decode(json.dumps(node), type=schema.Node), self.parts)

    def _templates(self, nodes: list[Json]) -> dict[str, Inventory | Refusal | None]:
        return {node["metadata"]["name"]: self.family.inventory(self._node(node)) for node in nodes}

    def _register(self, devices: Json, *, refreshed: set[str]) -> None:
        """Take over which nodes HAMi holds, and check that we read the same of them."""
        for name, node in self.nodes.items():
            held = devices.get(name, {})
            missing = self._read(node, [word for word in self.kind.registers if word not in held])
            if isinstance(missing, Inventory) and not self._is_live_matter(name):
                self._expect(f"registration of {name}", None, self._recorded_form(missing))
            words = [word for word in self.kind.registers if word in held]
            if not words:
                self.registered.pop(name, None)
                continue
            recorded = [device for word in words for device in held[word]]
            read = self._read(node, words)
            self._register_node(name, recorded, read, is_refreshed=name in refreshed)
        self._recount()

    def _read(self, node: Json, words: Sequence[str]) -> Inventory | Refusal | None:
        """Return what the node registers under these words."""
        read = self._node(node)
        others = {key for word, (key, _) in self.kind.registers.items() if word not in words}
        notes = {key: value for key, value in read.annotations.items() if key not in others}
        return self.family.inventory(structs.replace(read, annotations=notes))

    def _recorded_form(self, inventory: Inventory) -> list[dict[str, Any]]:
        return recorded_form(inventory, has_mode=self.kind.has_mode)

    def _register_node(
        self, name: str, recorded: object, read: Inventory | Refusal | None, *, is_refreshed: bool
    ) -> None:
        known = self.registered.get(name)
        is_known = known is not None and self._recorded_form(known) == recorded
        if is_known and not is_refreshed:
            return
        if isinstance(read, Inventory) and self._recorded_form(read) == recorded:
            self.registered[name] = read
        elif is_known:
            self.report.skipped["register loop"] += 1
        else:
            ours = self._recorded_form(read) if isinstance(read, Inventory) else read
            self._expect(f"registration of {name}", recorded, ours)

    def _is_live_matter(self, name: str) -> bool:
        """Return whether labels, handshakes or counts decide about registration."""
        node = self.nodes[name]
        allocatable = node["status"].get("allocatable", {})
        return bool(
            self.flags.get("nodeLabelSelector")
            or not node["metadata"].get("annotations", {}).keys().isdisjoint(self.kind.handshakes)
            or all(allocatable.get(name, "0") == "0" for _, name in self.kind.registers.values())
        )

    # Accounting

    def _track(self, pod: Pod) -> None:
        """Count what the pod holds from now on, by HAMi's rules of who is counted."""
        self.tracked.pop(pod.uid, None)
        if NODE in pod.annotations and not pod.is_finished:
            if pod.annotations.get("hami.io/bind-phase") == "failed" and not pod.node_name:
                raise Skip("failed bind")
            if not isinstance(self.family.decode(pod), Refusal):
                self.tracked[pod.uid] = pod
        self._recount()

    def _recount(self) -> None:
        self.ledger = self._counted(lambda _pod, allocation: allocation)

    def _counted(self, seen: Callable[[Pod, Allocation], Allocation]) -> Ledger:
        ledger = Ledger()
        ledger.quotas = Quotas(self.limits.scaled())
        for name, inventory in self.registered.items():
            ledger.add_node(Node(name=name), {self.family.name: inventory})
        for pod in self.tracked.values():
            row = ledger.rows.get(pod.annotations[NODE])
            allocation = self.family.decode(pod)
            if not isinstance(allocation, Allocation):
                continue
            allocation = seen(pod, allocation)
            charges = self.family.charges(allocation)
            if row is None:
                ledger.quotas.stand(pod.namespace, charges)
                continue
            shares = self.family.shares(allocation, self.registered[ledger.names[row]])
            ledger.hold(
                Holding(
                    uid=pod.uid,
                    row=row,
                    shares=((self.family.name, shares),),
                    namespace=pod.namespace,
                    charges=charges,
                )
            )
        return ledger

    def _compare_usage(self, recorded: Json) -> None:
        self.ledger.check()
        expected = without_profiles(recorded)
        ours = usage_of(self.ledger, self.family.name)
        if (
            expected != ours
            and usage_of(self._counted(self._as_hami_sees), self.family.name) == expected
        ):
            raise Skip("padding")
        self._expect("usage", expected, ours)

    def _compare_quotas(self, recorded: Json) -> None:
        self._expect("quota", recorded, self.limits.recorded_form(self.ledger.quotas))

    def _as_hami_sees(self, pod: Pod, allocation: Allocation) -> Allocation:
        """Return the allocation as HAMi's short list makes it: positions moved to the front."""
        if pod.uid not in self.unpadded:
            return allocation
        read = self.family.decode(structs.replace(pod, is_init_done=False))
        assert isinstance(read, Allocation)
        moved = tuple(grants for grants in read.containers if grants)
        if pod.is_init_done:
            moved = ((),) * read.init_count + moved[read.init_count :]
        return structs.replace(read, containers=moved)

    # Quotas

    def _set_quota(self, step: Json, outcome: Json) -> None:
        del outcome
        self.limits.set(step["quota"])
        self._recount()

    def _delete_quota(self, step: Json, outcome: Json) -> None:
        del outcome
        self.limits.delete(step["quota"])
        self._recount()

    def _bound(self, ask: Ask, namespace: str, *, ledger: Ledger | None = None) -> Ask:
        """Return the ask with what is left to its namespace."""
        ledger = self.ledger if ledger is None else ledger
        (found,) = bounded((ask,), namespace, ledger=ledger, families=self.families)
        return found

    # Deciding

    def _filtered(
        self, ask: Ask, names: list[str], *, ledger: Ledger | None = None
    ) -> tuple[dict[str, Allocation], dict[str, str]]:
        """Return what fits where, and why not elsewhere; vector and exact verdicts must agree."""
        ledger = self.ledger if ledger is None else ledger
        allocations: dict[str, Allocation] = {}
        failed: dict[str, str] = {}
        for name in dict.fromkeys(names):
            row = ledger.rows.get(name)
            view = None if row is None else ledger.view(row, self.family.name)
            if row is None or view is None:
                failed[name] = NODE_UNREGISTERED
                continue
            answer = self.family.place(ask, view)
            self._cross_check(ask, ledger, row, answer)
            if isinstance(answer, Refusal):
                failed[name] = answer.text
                assert isinstance(self.family.detail(ask, view.inventory, answer), str)
            else:
                allocations[name] = answer
        return allocations, failed

    def _cross_check(
        self, ask: Ask, ledger: Ledger, row: int, answer: Allocation | Refusal
    ) -> None:
        verdicts = self.family.evaluate(ask, ledger.devices[self.family.name], np.array([row]))
        fits, is_exact = bool(verdicts.fits[0]), bool(verdicts.is_exact[0])
        if isinstance(answer, Allocation):
            self._expect("vector verdict", "fits", "fits" if fits else "refused")
        elif is_exact:
            self._expect("vector verdict", "refused", "fits" if fits else "refused")
            self._expect("vector refusal", answer, self.family.refusal(ask, verdicts.codes[0]))

    def _scores(
        self, ask: Ask, names: list[str], *, ledger: Ledger | None = None
    ) -> dict[str, float]:
        ledger = self.ledger if ledger is None else ledger
        rows = np.array([ledger.rows[name] for name in names])
        scores = self.family.scores(ask, ledger.devices[self.family.name], rows)
        return dict(zip(names, scores.tolist(), strict=True))

    def _expect(self, what: str, recorded: object, ours: object) -> None:
        if recorded == ours:
            return
        if self.scenario["maxDevicesPerNode"] > STABLE_MAX:
            raise Skip("stable sort")
        self.report.differences.append(f"{what}: recorded {recorded!r}, ours {ours!r}")


def schema_pod(pod: Json) -> schema.Pod:
    """Return a pod object as read."""
    return msgspec.json.decode(json.dumps({"kind": "Pod", **pod}), type=schema.Pod)


def fingerprint(node: Json, kind: Kind) -> object:
    """Return what makes HAMi read a node's registration again."""
    annotations = node["metadata"].get("annotations", {})
    allocatable = node["status"].get("allocatable", {})
    return [(annotations.get(key), allocatable.get(name)) for key, name in kind.registers.values()]


def recorded_form(inventory: Inventory, *, has_mode: bool) -> list[dict[str, Any]]:
    """Return an inventory as the recording writes it; a mode that we derive is not in it."""
    return [
        _recorded_device(device if has_mode else structs.replace(device, mode=""))
        for device in inventory.devices
    ]


def _recorded_device(device: Device) -> dict[str, Any]:
    form: dict[str, Any] = {
        "id": device.id, "index": device.index, "count": device.slots,
        "devmem": device.memory_mib, "devcore": device.cores, "type": device.type,
        "numa": device.numa, "health": device.is_healthy,
    }  # fmt: skip
    if device.mode:
        form["mode"] = device.mode
    if device.mig_profiles:
        form["migProfiles"] = [
            {
                "name": profile.name,
                "memoryMB": profile.memory_mib,
                "core": profile.cores,
                "sliceCount": profile.slices,
                "placements": [{"start": p.start, "size": p.size} for p in profile.placements],
            }
            for profile in device.mig_profiles
        ]
    if device.network is not None:
        form["custominfo"] = {"NetworkID": device.network}
    if device.links:
        form["pairScore"] = dict(device.links)
    return form


def usage_of(ledger: Ledger, family: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the use of every card in the recorded form, MIG without profile names."""
    usage = {}
    for name, row in ledger.rows.items():
        view = ledger.view(row, family)
        assert view is not None
        cards = card_usage(view)
        if cards:
            usage[name] = cards
    return usage


def allocations_of(pod: Pod) -> list[str]:
    """Return the annotations in which families wrote what the pod holds."""
    return [key for key in pod.annotations if key.endswith("-allocated")]


def nano(quantities: Mapping[str, Quantity]) -> dict[str, int]:
    """Return quantities by value, whatever their spelling."""
    return {name: quantity.nano for name, quantity in quantities.items()}


def card_usage(view: DeviceView) -> dict[str, dict[str, Any]]:
    """Return the use of one node's cards in the recorded form."""
    cards: dict[str, dict[str, Any]] = {}
    for device, use in zip(view.inventory.devices, view.uses, strict=True):
        card: dict[str, Any] = {}
        if use.slots or use.memory_mib or use.cores:
            card = {"used": use.slots, "mem": use.memory_mib, "cores": use.cores}
        if use.occupied:
            card["mig"] = sorted(f"{place.start}+{place.size}" for place in use.occupied)
        if use.opaque or not device.is_healthy:
            card["health"] = False
        if card:
            cards[device.id] = card
    return cards


def without_profiles(usage: Json) -> dict[str, dict[str, Any]]:
    """Return recorded usage with MIG placements only."""
    return {
        node: {
            card: {
                key: sorted(item.split("@")[1] for item in value) if key == "mig" else value
                for key, value in entry.items()
            }
            for card, entry in cards.items()
        }
        for node, cards in usage.items()
    }


def unpadded(text: str) -> str:
    """Return an allocation as HAMi writes it: without the entries of containers without cards."""
    return "".join(f"{segment};" for segment in text.split(";") if segment)


def texts(scores: Mapping[str, float]) -> dict[str, str]:
    """Return scores as HAMi writes them; the sign only says which end is preferred."""
    return {name: f"{abs(score):.2f}" for name, score in scores.items()}


def sorted_shares(shares: Sequence[Share]) -> list[Share]:
    """Return shares in a comparable order."""
    return sorted(shares, key=lambda share: (share.position, share.slots, share.memory_mib))


def main(arguments: list[str]) -> int:
    """Replay a recording and print the outcome."""
    data = Path(arguments[0])
    configs = json.loads((data / "configs.json").read_text())
    total = Report()
    for scenario in chain.from_iterable(map(load, sorted(data.glob("*.jsonl.gz")))):
        if len(arguments) > 1 and not scenario["id"].startswith(arguments[1]):
            continue
        report = replay(scenario, configs)
        total.equal += report.equal
        total.differences.extend(report.differences)
        total.skipped.update(report.skipped)
    print(*total.differences, sep="\n")
    print(f"{total.equal} steps equal, {len(total.differences)} differences")
    print(*(f"{count} skipped: {rule}" for rule, count in total.skipped.most_common()), sep="\n")
    return 1 if total.differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
