"""Recorded HAMi decisions, replayed step by step through our own device families and compared.

A `World` keeps the cluster of one scenario: nodes as they register, pods as they are stored, a ledger
of who holds what. Every recorded step is performed with our own reading, placement and accounting,
and its recorded outcome compared: results, nodes, annotations, reasons, scores and the use of every
card afterwards. On the way every vector verdict and every class table is held against the exact
placement.

Where we differ on purpose a `Difference` says so. Such a step counts as skipped, never as passed, and
what HAMi made of it is taken over, so that the steps after it are compared from one state again.
Node locks and the timing of the register loop are not replayed: the tool takes from the
recording which nodes HAMi had registered, and checks that it reads the same devices.
"""

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from springtide.base.names import is_extended_resource
from springtide.engine.placement.admission import EXCEEDED, admitted, denial
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.reasons import NODE_UNREGISTERED
from springtide.engine.placement.tables import Tables
from springtide.model.device import Inventory
from springtide.model.pod import Pod, PodSpec
from springtide.model.refusal import Refusal
from springtide.wire.k8s.parts import Parts
from springtide.wire.k8s.pods import to_pod
from tools.replay.hami_comparing import Comparison
from tools.replay.hami_deciding import Answers, Deciding
from tools.replay.hami_forms import (
    allocations_of,
    schema_pod,
)
from tools.replay.hami_kinds import Json, kinds_of
from tools.replay.hami_nodes import Nodes
from tools.replay.hami_report import DIFFERENCES, Report, Skip
from tools.replay.hami_simulating import Simulating
from tools.replay.hami_state import NODE, State, registered_ledger

__all__ = ["DIFFERENCES", "Report", "World", "load", "replay", "replay_scenario"]

STABLE_MAX: Final = 12
"""Up to so many devices HAMi's sort is stable, as ours always is."""


def replay_scenario(scenario: Json, configs: Mapping[str, str]) -> list[str]:
    """Return where our answers differ from the recorded ones without a listed rule."""
    return replay(scenario, configs).differences


def replay(scenario: Json, configs: Mapping[str, str], *, is_strict: bool = False) -> Report:
    """Replay one scenario; strictly, with HAMi's peculiarities of placement."""
    report = Report()
    steps = scenario.get("steps", ())
    try:
        world = World(scenario, configs, report, is_strict=is_strict)
    except Skip as rule:
        report.skipped[str(rule)] += max(len(steps), 1)
        return report
    for index, step in enumerate(steps):
        found = world.performed(step)
        left = len(steps) - index - 1
        if found:
            where = f"{scenario['id']} step {index} ({step['do']})"
            report.differences.extend(f"{where}: {text}" for text in found)
            report.skipped["after a difference"] += left
            break
        if world.is_lost:
            report.skipped["after a skip"] += left
            break
    return report


def load(path: Path) -> list[Json]:
    """Return the scenarios of a recording."""
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


class World:
    """The cluster of one scenario as we see it.

    `is_lost` once HAMi's state cannot be taken over after a step that was skipped.
    """

    def __init__(
        self,
        scenario: Json,
        configs: Mapping[str, str],
        report: Report,
        *,
        is_strict: bool = False,
    ) -> None:
        self.report = report
        self.scenario = scenario
        self.is_lost = False
        flags, vendor = scenario["flags"], scenario["id"].partition("-")[0]
        self.kinds = kinds_of(vendor, configs[scenario["config"]], flags, is_strict=is_strict)
        self.families = {kind.family.name: kind.family for kind in self.kinds}
        self.has_others = vendor not in {name.lower() for name in self.families}
        self.parts = Parts()
        self.pods: dict[str, Pod] = {}
        self.state = State(self.families, is_strict=is_strict)
        self.service = Simulating(self.families)
        self.compare = Comparison(
            self.kinds,
            self.state,
            report=report,
            has_others=self.has_others,
            is_stable=scenario["maxDevicesPerNode"] <= STABLE_MAX,
        )
        self._is_by_chance = any(kind.groups_by_chance for kind in self.kinds)
        self.nodes = Nodes(
            self.kinds, self.state, flags=flags, report=report, expect=self.compare.expect
        )
        self._begin()

    def _begin(self) -> None:
        scenario = self.scenario
        registered = scenario.get("registered", {"result": "panic"})
        if registered.get("result") == "panic":
            raise Skip("crash")
        for quota in scenario["quotas"]:
            self.state.limits.set(quota)
        names = {self.nodes.add(node) for node in scenario["nodes"]}
        self.nodes.register(registered["devices"], refreshed=names)

    # Steps

    def performed(self, step: Json) -> list[str]:
        """Perform one step and return what differs; what is skipped is taken over."""
        before = self.report.skipped.total()
        self.compare.found = []
        try:
            found = self._perform(step)
        except Skip as rule:
            if self.compare.found and not self._is_by_chance:
                return self.compare.found
            self.report.skipped[str(rule)] += 1
            self._adopt(step)
            return []
        if not found and self.report.skipped.total() == before:
            self.report.equal += 1
        return found

    def _perform(self, step: Json) -> list[str]:
        performers: dict[str, Callable[[Json, Json], None]] = {
            "schedule": self._schedule,
            "retry": self._schedule,
            "simulate": self._simulate,
            "observe": self._observe,
            "podStatus": self._pod_status,
            "delete": self._delete,
            "addNode": self.nodes.step,
            "updateNode": self.nodes.step,
            "deleteNode": self.nodes.step,
            "tick": self.nodes.step,
            "bind": self._bind,
            "setQuota": self._quota_step,
            "deleteQuota": self._quota_step,
        }
        outcomes = [each["outcome"] for each in step.get("outcomes", ())] or [step["outcome"]]
        self.compare.is_any_order = len(outcomes) > 1 and self._is_by_chance
        answers: dict[object, list[list[str]]] = {}
        for outcome in outcomes:
            if outcome["result"] == "panic":
                raise Skip("crash")
            self.compare.found = []
            performers[step["do"]](step, outcome)
            if "usage" in outcome:
                self.compare.usage(outcome["usage"])
                self.compare.quotas(outcome["quota"])
            answers.setdefault(outcome.get("node"), []).append(self.compare.found)
        return [text for found in answers.values() for text in self._judged(found)]

    def _judged(self, answers: list[list[str]]) -> list[str]:
        """Return what differs from the answers that HAMi gave with one node.

        Where chance decided, there are several; each of them has to be possible for us. Where it
        decided between groups of devices, ours has to be one of them, in any order of the groups.
        """
        if self._is_by_chance:
            return min(answers, key=len)
        return [difference for answer in answers for difference in answer]

    def _schedule(self, step: Json, outcome: Json) -> None:
        pod = self._pod_of(step)
        if pod is None:
            self.compare.expect("result", outcome["result"], "absent")
            return
        if isinstance(pod, Refusal):
            self.compare.expect("webhook", outcome.get("webhook", {}).get("message"), pod.text)
            return
        if step["nodes"] is None:
            raise Skip("crash")
        self._schedule_pod(pod, step, outcome)

    def _schedule_pod(self, pod: Pod, step: Json, outcome: Json) -> None:
        self.pods[pod.key] = pod
        wanted = self.state.classifier.classify(pod)
        if wanted.asks and wanted.refusal is None and outcome["result"] == "passed":
            raise Skip("spelling")
        if not wanted.asks and wanted.refusal is None:
            self.compare.expect("result", outcome["result"], "passed")
            self._track(pod)
            return
        self.state.untrack(pod.uid)
        if wanted.refusal is not None:
            self.compare.senseless(wanted.refusal, pod, outcome)
            return
        deciding = self._deciding(self.state.tables)
        answers = deciding.answers(wanted, step["nodes"])
        if not answers.allocations:
            self.compare.expect("result", outcome["result"], "refused")
            self.compare.failed(answers.failed, outcome.get("failedNodes"))
            return
        self.compare.expect("result", outcome["result"], "placed")
        if outcome["result"] == "placed":
            scores = deciding.scores(wanted, answers.allocations)
            self.compare.scores(deciding, scores, outcome)
            self._compare_placement(pod, answers, step, outcome)

    def _deciding(self, tables: Tables) -> Deciding:
        return Deciding(tables, self.families, report=self.report, expect=self.compare.expect)

    def _compare_placement(self, pod: Pod, answers: Answers, step: Json, outcome: Json) -> None:
        node = outcome["node"]
        given = answers.allocations.get(node)
        if given is None:
            return
        ours = {k: v for each in given for k, v in self.families[each.family].encode(each).items()}
        self.compare.annotations(ours, pod, outcome["annotations"])
        self._store(pod, ours, step, node)
        self.compare.read_back(pod, given, node)

    def _store(self, pod: Pod, written: Mapping[str, str], step: Json, node: str) -> None:
        """Store a placed pod as the cluster has it from then on."""
        is_bound = step.get("bind", True)
        placed = structs.replace(
            pod,
            annotations={**pod.annotations, **written, NODE: node},
            node_name=node if is_bound else pod.node_name,
            phase="Running" if is_bound else pod.phase,
        )
        self.pods[pod.key] = placed
        self._track(placed)

    def _simulate(self, step: Json, outcome: Json) -> None:
        pod = self._pod_of(step)
        if isinstance(pod, Refusal):
            self.compare.expect("webhook", outcome.get("webhook", {}).get("message"), pod.text)
            return
        assert pod is not None
        wanted = self.state.classifier.classify(pod)
        if wanted.refusal is not None:
            self.compare.senseless(wanted.refusal, pod, outcome)
        elif not wanted.asks:
            self.compare.expect("result", outcome["result"], "passed")
        else:
            self._compare_simulated(wanted, step, outcome)
            self._compare_service(pod, step, outcome)

    def _compare_service(self, pod: Pod, step: Json, outcome: Json) -> None:
        """Ask the simulation service, too, which knows nothing of quotas and of what is registered."""
        if self.state.ledger.quotas.limited(pod.namespace):
            self.report.skipped["quota in a simulation"] += 1
            return
        nodes = [self.nodes.read(node) for node in step["nodes"]]
        failed, malformed = self.service.failed(pod, nodes)
        told = outcome.get("failedNodes") or {}
        for name in malformed:
            self.compare.expect("malformed", told.get(name), NODE_UNREGISTERED)
            failed[name] = (NODE_UNREGISTERED, *failed[name])
        self.compare.failed(failed, outcome.get("failedNodes"))

    def _compare_simulated(self, wanted: PodClass, step: Json, outcome: Json) -> None:
        registered: dict[str, dict[str, Inventory]] = {}
        malformed: dict[str, Refusal] = {}
        for name, kind, answer in self.nodes.templates(step["nodes"]):
            if isinstance(answer, Inventory):
                registered.setdefault(name, {})[kind.family.name] = answer
            else:
                malformed[name] = answer
        ledger = registered_ledger(registered)
        ledger.quotas = self.state.ledger.quotas
        deciding = self._deciding(self.state.tables_over(ledger))
        names = [node["metadata"]["name"] for node in step["nodes"]]
        answers = deciding.answers(wanted, names)
        for name in malformed:
            self.compare.expect(
                "malformed", (outcome.get("failedNodes") or {}).get(name), NODE_UNREGISTERED
            )
            self.report.skipped["malformed registration"] += 1
        self.compare.failed(answers.failed, outcome.get("failedNodes"))
        fits = answers.allocations
        self.compare.expect("result", outcome["result"], "placed" if fits else "refused")
        if outcome["result"] == "placed":
            scores = deciding.scores(wanted, fits)
            best = [name for name, score in scores.items() if score == max(scores.values())]
            self.compare.expect("nodes", set(), set(outcome["nodes"]) - set(best))

    def _observe(self, step: Json, outcome: Json) -> None:
        pod = self._decoded(step["pod"])
        self.pods[pod.key] = pod
        if NODE in pod.annotations and pod.is_terminating and not pod.is_finished:
            raise Skip("terminating")
        if pod.is_init_done:
            raise Skip("init ended")
        self._track(pod)
        is_tracked = pod.uid in self.state.tracked
        if not outcome["tracked"] and is_tracked and len(allocations_of(pod)) > 1:
            raise Skip("other family")
        self.compare.expect("tracked", outcome["tracked"], is_tracked)

    def _pod_status(self, step: Json, outcome: Json) -> None:
        pod = self.pods.get(step["pod"])
        if pod is None:
            self.compare.expect("result", outcome["result"], "absent")
            return
        pod = self._with_status(pod, step)
        self.pods[pod.key] = pod
        if pod.uid in self.state.tracked or not pod.is_terminating:
            self._track(pod)
        self.compare.expect("tracked", outcome["tracked"], pod.uid in self.state.tracked)

    def _with_status(self, pod: Pod, step: Json) -> Pod:
        status = step.get("status", {})
        read = schema_pod({"metadata": {"name": pod.name}, "status": status})
        news = to_pod(read, self.parts)
        has_init = "initContainerStatuses" in status
        return structs.replace(
            pod,
            phase=news.phase if "phase" in status else pod.phase,
            is_init_done=news.is_init_done if has_init else pod.is_init_done,
            is_terminating=step.get("terminating", pod.is_terminating),
        )

    def _delete(self, step: Json, outcome: Json) -> None:
        pod = self.pods.pop(step["pod"], None)
        if pod is None:
            self.compare.expect("result", outcome["result"], "absent")
            return
        self.state.untrack(pod.uid)

    def _bind(self, step: Json, outcome: Json) -> None:
        """Leave locks out; a pod that is bound holds its cards, one whose node is gone holds none."""
        pod = self.pods.get(step["pod"])
        if pod is not None and outcome["result"] == "bound":
            self._store(pod, outcome["annotations"], step, step["node"])
        elif pod is not None and step["node"] not in self.nodes.raw:
            self.state.untrack(pod.uid)
        self.report.skipped["bind"] += 1

    def _quota_step(self, step: Json, outcome: Json) -> None:
        del outcome
        limits = self.state.limits
        (limits.set if step["do"] == "setQuota" else limits.delete)(step["quota"])
        self.state.recount()

    # Taking over

    def _adopt(self, step: Json) -> None:
        """Take over what HAMi made of a step; the world is lost where that cannot be."""
        outcome = step.get("outcome") or step["outcomes"][0]["outcome"]
        if outcome["result"] == "panic":
            return
        if step["do"] in {"schedule", "retry"}:
            self._adopt_scheduled(step, outcome)
        elif not outcome.get("tracked", True):
            self.state.untrack(self.pods[_key(step["pod"])].uid)
        self.is_lost = "usage" in outcome and not self.compare.is_state(outcome)

    def _adopt_scheduled(self, step: Json, outcome: Json) -> None:
        pod = self.pods[step["pod"]] if step["do"] == "retry" else self._decoded(step["pod"])
        self.state.untrack(pod.uid)
        if outcome["result"] == "denied":
            self.pods.pop(pod.key, None)
            return
        answer = admitted(pod, self.families)
        pod = pod if isinstance(answer, Refusal) else answer
        self.pods[pod.key] = pod
        if outcome["result"] == "placed":
            if any(
                _is_short(outcome["annotations"].get(key), pod) for key in self.compare.text_keys()
            ):
                self.state.unpadded.add(pod.uid)
            self._store(pod, outcome["annotations"], step, outcome["node"])

    # Reading

    def _pod_of(self, step: Json) -> Pod | Refusal | None:
        if step["do"] == "retry":
            pod = self.pods.get(step["pod"])
            if pod is not None:
                self._leave_out_others(pod.spec)
            return pod
        pod = self._decoded(step["pod"])
        self._leave_out_others(pod.spec)
        if not step.get("webhook", True):
            return pod
        recorded = (step.get("outcome") or step["outcomes"][0]["outcome"]).get("webhook", {})
        message = recorded.get("message", "")
        is_own = message == EXCEEDED or any(kind.is_own_denial(message) for kind in self.kinds)
        if not recorded.get("allowed") and not is_own:
            raise Skip("admission")
        if "already has different scheduler" in message:
            return pod
        answer = admitted(pod, self.families)
        if isinstance(answer, Refusal):
            return answer
        if recorded.get("allowed"):
            self.compare.admission(pod, answer.spec, recorded)
        return denial(answer, self.families, quotas=self.state.ledger.quotas) or answer

    def _leave_out_others(self, spec: PodSpec) -> None:
        """Skip pods that ask for devices of families which are not built yet."""
        if not self.has_others:
            return
        ours = frozenset(
            name for family in self.families.values() for name in family.resource_names()
        )
        for container in (*spec.init_containers, *spec.containers):
            for name, _ in (*container.limits, *container.requests):
                if is_extended_resource(name) and name not in ours:
                    raise Skip("other families")

    def _decoded(self, pod: Json) -> Pod:
        return to_pod(schema_pod(pod), self.parts)

    # Accounting

    def _track(self, pod: Pod) -> None:
        """Count what the pod holds from now on, by HAMi's rules of who is counted."""
        self.state.tracked.pop(pod.uid, None)
        if NODE in pod.annotations and not pod.is_finished:
            if pod.annotations.get("hami.io/bind-phase") == "failed" and not pod.node_name:
                raise Skip("failed bind")
            self.state.track(pod)
        self.state.recount()


def _key(pod: Any) -> str:
    """Return the key of a pod that a step gives whole or by its key."""
    if isinstance(pod, str):
        return pod
    return f"{pod['metadata'].get('namespace') or 'default'}/{pod['metadata']['name']}"


def _is_short(text: str | None, pod: Pod) -> bool:
    """Return whether a written allocation lacks the entries of some containers."""
    count = len(pod.spec.init_containers) + len(pod.spec.containers)
    return text is not None and text.count(";") < count
