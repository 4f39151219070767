"""Recorded HAMi decisions, replayed through the live scheduler: admission, filter, bind, informers, quotas.

Beside `hami`, which holds the parts to the recordings, this holds the whole: what the process would
answer and write. The API server is played here, with the recording's clock that stands still. Where we
differ on purpose a `Difference` says so; from there on a scenario is not compared.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from msgspec import structs

from springtide.base.annotations import BIND_PHASE, BIND_TIME, NODE_LOCK
from springtide.base.quantity import parse
from springtide.engine.live import (
    Admitted,
    AnswerBind,
    Commands,
    CreateBinding,
    Done,
    Failed,
    Fault,
    Filtered,
    Live,
    LiveSettings,
    NodeRead,
    Outcome,
    PatchNode,
    PatchPod,
    PodRead,
    ReadNode,
    ReadPod,
    RecordEvent,
    Submitted,
)
from springtide.engine.live.commands import Command
from springtide.model.pod import Pod
from springtide.wire.k8s import schema
from springtide.wire.k8s.nodes import to_node
from springtide.wire.k8s.parts import Parts
from springtide.wire.k8s.pods import to_pod
from tools.replay.hami_forms import (
    nano,
    recorded_form,
    schema_pod,
    unpadded,
    usage_of,
    without_profiles,
)
from tools.replay.hami_kinds import Json, kinds_of
from tools.replay.hami_quotas import QuotaLimits
from tools.replay.hami_report import Difference, Report, Skip

STABLE_MAX: Final = 12
NOW_S: Final = datetime(2026, 11, 30, tzinfo=UTC).timestamp()
TIMES: Final = frozenset({"hami.io/vgpu-time", "predicate-time", BIND_TIME})

DIFFERENCES: Final = (
    Difference("crash", "HAMi crashes; we answer."),
    Difference("simulation", "Templates are not the live scheduler's matter."),
    Difference("forged", "Allocations that users bring are denied."),
    Difference("senseless quantity", "What makes no sense is denied; HAMi lets the pod pass."),
    Difference("spelling", "A whole number counts however it is spelled (1000m, 2.0)."),
    Difference("padding", "Every container has its entry; HAMi omits those without cards."),
    Difference("malformed registration", "We say malformed where HAMi says unregistered."),
    Difference("stable sort", "Above 12 devices HAMi's order of equal devices is not stable."),
    Difference("cordon at once", "What a node annotation says counts at once, in HAMi later."),
    Difference("other family", "What another family wrote unreadably does not hide our cards."),
    Difference("terminating", "A pod that is being deleted holds its cards until it is gone."),
    Difference("init ended", "Ended init containers cost nothing, after a restart either."),
    Difference("failed bind", "A pod that waits again after a failed bind holds nothing."),
    Difference("unreadable", "A pod whose allocation cannot be read closes its node."),
    Difference("elsewhere", "A pod on another node than its devices' holds none of them."),
    Difference("waits", "A bind waits for the lock of its node instead of failing at once."),
    Difference("reserved", "A bind needs a reservation on its node; HAMi binds without one."),
    Difference(
        "strangers", "Nobody but its owner releases a lock; HAMi does one without an owner."
    ),
    Difference(
        "malformed lock", "A lock that cannot be read is removed; in HAMi some stay for ever."
    ),
    Difference("init lock", "A pod whose init containers alone ask for cards takes the lock too."),
    Difference("flapping", "Cards that nobody counts any more stay away; in HAMi they come back."),
    Difference("registration at once", "What a node registers counts as soon as it is written."),
    Difference("several families", "Clusters with families that are not built yet."),
    Difference("after a skip", "The state differs by the rule before."),
    Difference("handshake", "Only kinds that a node registers are asked, and none is cleaned up."),
)


def replay(scenario: Json, configs: Mapping[str, str]) -> Report:
    """Replay one scenario."""
    report = Report()
    registered = scenario.get("registered", {"result": "panic"})
    if registered.get("result") == "panic":
        report.skipped["crash"] += 1
        return report
    if scenario["id"].startswith("mixed-"):
        report.skipped["several families"] += 1
        return report
    world = World(scenario, configs)
    for index, step in enumerate(scenario["steps"]):
        if step["do"] == "simulate":
            report.skipped["simulation"] += 1
            continue
        left = len(scenario["steps"]) - index - 1
        try:
            found = world.perform(step)
        except _Unequal as fault:
            found = [str(fault)]
        except Skip as rule:
            report.skipped[str(rule)] += 1
            report.skipped["after a skip"] += left
            return report
        if found:
            report.differences += [f"step {index} ({step['do']}): {text}" for text in found]
            report.skipped["after a difference"] += left
            return report
        report.equal += 1
    return report


class World:
    """The API server of one scenario, and the live scheduler beside it."""

    def __init__(self, scenario: Json, configs: Mapping[str, str]) -> None:
        flags = scenario["flags"]
        self.scenario = scenario
        vendor = scenario["id"].partition("-")[0]
        (self.kind,) = kinds_of(vendor, configs[scenario["config"]], flags)
        self.family = self.kind.family
        self.parts = Parts()
        self.nodes: dict[str, dict[str, Any]] = {}
        self.versions: Counter[str] = Counter()
        self.pods: dict[str, Pod] = {}
        self.events: list[str] = []
        self.answers: dict[str, str] = {}
        self.written: dict[str, str | None] = {}
        self.limits = QuotaLimits([self.family])
        self.has_cordoned = self.is_any_order = False
        self.live = Live(
            {self.family.name: self.family},
            LiveSettings(
                scheduler_name=flags.get("schedulerName", "hami-scheduler"),
                forces_default_scheduler=flags.get("forceOverwriteDefaultScheduler", True),
                node_selector=flags.get("nodeLabelSelector") or {},
                single_wait_s=0,
                lock_wait_s=0,
            ),
        )
        for quota in scenario["quotas"]:
            self._set_quota(quota)
        for node in scenario["nodes"]:
            self._see_node(json.loads(json.dumps(node)))

    def perform(self, step: Json) -> list[str]:
        """Perform one step and return what came out differently."""
        self.events.clear()
        self.has_cordoned |= self.kind.at_once in step.get("annotations", {})
        self.written = {}
        outcomes = [each["outcome"] for each in step.get("outcomes", ())] or [step["outcome"]]
        self.is_any_order = self.kind.groups_by_chance and len(outcomes) > 1
        if any(each["result"] == "panic" for each in outcomes):
            raise Skip("crash")
        done = self._done(step)
        answers = [self._compared(step, done, each) for each in outcomes]
        differences = min(answers, key=len)
        if differences:
            self._excuse(step, done, outcomes[0])
        return differences

    # Doing

    def _done(self, step: Json) -> Any:
        performers: dict[str, Callable[[Json], Any]] = {
            "schedule": self._schedule,
            "retry": self._retry,
            "bind": self._bind,
            "observe": lambda step: self._see(to_pod(schema_pod(step["pod"]), self.parts)),
            "podStatus": self._change,
            "delete": self._delete,
            "addNode": lambda step: self._see_node(json.loads(json.dumps(step["node"]))),
            "updateNode": self._update,
            "deleteNode": self._delete_node,
            "tick": lambda _step: self._perform(self.live.tick(now_s=NOW_S)),
            "setQuota": lambda step: self._set_quota(step["quota"]),
            "deleteQuota": self._delete_quota,
        }
        return performers[step["do"]](step)

    def _retry(self, step: Json) -> Filtered | None:
        pod = self.pods.get(step["pod"])
        return None if pod is None else self._filter(pod, step)

    def _delete(self, step: Json) -> None:
        pod = self.pods.pop(step["pod"], None)
        if pod is not None:
            self._perform(self.live.pod_gone(pod.uid, now_s=NOW_S))

    def _delete_node(self, step: Json) -> None:
        del self.nodes[step["node"]]
        self._perform(self.live.node_gone(step["node"], now_s=NOW_S))

    def _delete_quota(self, step: Json) -> None:
        self.limits.delete(step["quota"])
        self._limit()

    def _schedule(self, step: Json) -> Filtered | Admitted | None:
        raw = step["pod"]
        pod = to_pod(schema_pod(raw), self.parts)
        if step.get("webhook", True):
            admitted = self.live.admit(_submitted(pod, raw))
            recorded = _first(step).get("webhook", {})
            self._compare_webhook(pod, raw, admitted, recorded)
            if not admitted.is_allowed:
                return admitted
            pod = structs.replace(pod, spec=admitted.spec or pod.spec)
        self._see(pod)
        return self._filter(pod, step)

    def _compare_webhook(self, pod: Pod, raw: Json, ours: Admitted, recorded: Json) -> None:
        is_allowed = recorded.get("allowed", False)
        if is_allowed != ours.is_allowed:
            if "is written by the scheduler alone" in ours.message:
                raise Skip("forged")
            if "which is not a whole number" in ours.message:
                raise Skip("senseless quantity")
            raise _Unequal(f"webhook: recorded {recorded}, ours {ours}")
        if not is_allowed:
            pairs = ((recorded.get("code"), ours.code), (recorded.get("message"), ours.message))
            if any(theirs != own for theirs, own in pairs):
                raise _Unequal(f"webhook: recorded {recorded}, ours {ours}")
            return
        self._compare_changes(pod, raw, ours, recorded)

    def _compare_changes(self, pod: Pod, raw: Json, ours: Admitted, recorded: Json) -> None:
        name = raw["spec"].get("schedulerName", "")
        set_to = "" if ours.scheduler_name == name else ours.scheduler_name
        if recorded.get("schedulerName", "") != set_to:
            raise _Unequal(f"schedulerName: recorded {recorded}, ours {ours}")
        if recorded.get("runtimeClassName", "") != ours.runtime_class:
            raise _Unequal(f"runtimeClassName: recorded {recorded}, ours {ours}")
        spec = ours.spec or pod.spec
        for container in (*spec.init_containers, *spec.containers):
            changed = recorded.get("containers", {}).get(container.name, {})
            if "limits" in changed:
                limits = {k: v for k, v in nano(dict(container.limits)).items() if v}
                theirs = schema_quantities(changed["limits"])
                if limits != theirs:
                    raise _Unequal(f"limits: recorded {theirs}, ours {limits}")
            added = {f"{n}={v}" for c, n, v in ours.environment if c == container.name}
            if not added <= set(changed.get("env", ())):
                raise _Unequal(f"env: recorded {changed.get('env')}, ours {added}")

    def _filter(self, pod: Pod, step: Json) -> Filtered:
        if step["nodes"] is None:
            raise Skip("crash")
        answer = self.live.filter(pod, step["nodes"], now_s=NOW_S)
        self._perform(answer.events)
        if answer.patch is not None:
            self._patch_pod(answer.patch)
            if step.get("bind", True):
                self._run(pod, answer.node or "")
        return answer

    def _run(self, pod: Pod, node: str) -> None:
        stored = self.pods[pod.key]
        notes = {**stored.annotations, BIND_PHASE: "success", BIND_TIME: str(int(NOW_S))}
        self._see(structs.replace(stored, annotations=notes, node_name=node, phase="Running"))

    def _bind(self, step: Json) -> str | None:
        namespace, _, name = step["pod"].partition("/")
        pod = self.pods.get(step["pod"])
        uid = "unknown" if pod is None else pod.uid
        self.answers.pop(uid, None)
        self._perform(
            self.live.bind(uid=uid, namespace=namespace, name=name, node=step["node"], now_s=NOW_S)
        )
        return self.answers.get(uid)

    def _change(self, step: Json) -> None:
        pod = self.pods.get(step["pod"])
        if pod is None:
            return
        status = step.get("status", {})
        inits = status.get("initContainerStatuses")
        done = inits is not None and bool(inits) and all(map(_has_ended, inits))
        self._see(
            structs.replace(
                pod,
                phase=status.get("phase", pod.phase),
                is_init_done=pod.is_init_done if inits is None else done,
                is_terminating=step.get("terminating", pod.is_terminating),
            )
        )

    def _update(self, step: Json) -> None:
        node = self.nodes[step["node"]]
        for part, home in (
            ("annotations", "metadata"),
            ("labels", "metadata"),
            ("capacity", "status"),
            ("allocatable", "status"),
        ):
            target = node[home].setdefault(part, {})
            target |= {key: _moment(text) for key, text in step.get(part, {}).items()}
            node[home][part] = {key: text for key, text in target.items() if text is not None}
        self._see_node(node)

    def _set_quota(self, quota: Json) -> None:
        self.limits.set(quota)
        self._limit()

    def _limit(self) -> None:
        # HAMi's own way of keeping limits is that of `hami_quotas`.
        self.live.restrict(self.limits.scaled())

    # The API server

    def _see(self, pod: Pod) -> None:
        self.pods[pod.key] = pod
        self._perform(self.live.pod_seen(pod, now_s=NOW_S))

    def _see_node(self, node: dict[str, Any]) -> None:
        name = node["metadata"]["name"]
        notes = node["metadata"].setdefault("annotations", {})
        notes |= {key: _moment(text) for key, text in notes.items()}
        self.nodes[name] = node
        self.versions[name] += 1
        read = to_node(msgspec.json.decode(json.dumps(node), type=schema.Node), self.parts)
        version = str(self.versions[name])
        self._perform(self.live.node_seen(read, now_s=NOW_S, version=version))

    def _perform(self, commands: Commands) -> None:
        waiting = list(commands)
        while waiting:
            command = waiting.pop(0)
            outcome = self._outcome(command)
            bind = getattr(command, "bind", "")
            if bind and outcome is not None:
                waiting += self.live.outcome(bind, outcome, now_s=NOW_S)

    def _outcome(self, command: Command) -> Outcome | None:  # noqa: PLR0911 - one each
        match command:
            case AnswerBind():
                self.answers[command.uid] = command.error
                return None
            case RecordEvent():
                severity = "Warning" if command.is_warning else "Normal"
                self.events.append(f"{severity} {command.reason} {command.message}")
                return None
            case PatchNode():
                return self._patch_node(command)
            case PatchPod():
                self.written |= command.annotations
                return self._patch_pod(command)
            case ReadNode():
                notes = self.nodes[command.name]["metadata"].get("annotations", {})
                return NodeRead(annotations=notes, version=str(self.versions[command.name]))
            case ReadPod():
                return self._read_pod(f"{command.namespace}/{command.name}")
            case CreateBinding():
                return self._create(command)

    def _patch_node(self, command: PatchNode) -> Outcome:
        notes = self.nodes[command.name]["metadata"].setdefault("annotations", {})
        notes |= command.annotations
        for key, text in command.annotations.items():
            if text is None:
                del notes[key]
        self.versions[command.name] += 1
        version = str(self.versions[command.name])
        if not command.bind:
            self._see_node(self.nodes[command.name])
        return Done(version=version)

    def _patch_pod(self, command: PatchPod) -> Outcome:
        pod = next(each for each in self.pods.values() if each.uid == command.uid)
        notes = {**pod.annotations, **command.annotations}
        kept = {key: text for key, text in notes.items() if text is not None}
        self._see(structs.replace(pod, annotations=kept))
        return Done()

    def _read_pod(self, key: str) -> Outcome:
        pod = self.pods.get(key)
        if pod is None:
            return Failed(fault=Fault.NOT_FOUND, message="not found")
        return PodRead(is_finished=pod.is_finished, node=pod.node_name)

    def _create(self, command: CreateBinding) -> Outcome:
        if command.name.startswith("unbindable"):
            return Failed(fault=Fault.OTHER, message="binding rejected")
        return Done()

    # Comparing

    def _compared(self, step: Json, done: Any, outcome: Json) -> list[str]:
        pairs: list[tuple[str, object, object]] = []
        match step["do"]:
            case "schedule" | "retry":
                pairs += self._of_filter(done, outcome)
            case "bind":
                pairs += self._of_bind(done, step, outcome)
            case _:
                pass
        if outcome["result"] not in {"denied", "absent"}:
            pairs.append(("usage", without_profiles(outcome["usage"]), self._usage()))
            quota = self.limits.recorded_form(self.live.ledger.quotas)
            pairs.append(("quota", _told(outcome["quota"]), _told(quota)))
        if "devices" in outcome:
            pairs += self._of_devices(outcome["devices"])
        if "events" in outcome:
            pairs.append(("events", outcome["events"], sorted(self.events)))
        return [f"{what}: recorded {a!r}, ours {b!r}" for what, a, b in pairs if a != b]

    def _of_filter(self, done: Any, outcome: Json) -> list[tuple[str, object, object]]:
        pairs: list[tuple[str, object, object]] = [("result", outcome["result"], _result(done))]
        if not isinstance(done, Filtered) or outcome["result"] != _result(done):
            return pairs
        pairs.append(("node", outcome.get("node"), done.node))
        pairs.append(("failedNodes", outcome.get("failedNodes", {}), dict(done.refusals)))
        pairs.append(("error", outcome.get("error", ""), done.error))
        if done.patch is not None:
            pairs.append(("labels", outcome["labels"], dict(done.patch.labels)))
            ours = {key: text for key, text in done.patch.annotations.items() if text is not None}
            forms = [self._forms(each) for each in (outcome["annotations"], ours)]
            pairs.append(("annotations", forms[0], forms[1]))
        return pairs

    def _forms(self, notes: Mapping[str, str]) -> dict[str, object]:
        """Return annotations to be compared, without those that tell of no device."""
        forms = {key: self._form(key, text) for key, text in notes.items()}
        return {key: form for key, form in forms.items() if form}

    def _form(self, key: str, text: str) -> object:
        """Return an annotation to be compared: times masked, documents read, padding left out.

        Where chance decides between groups of devices, their order is chance too.
        """
        if key in TIMES:
            return "<time>"
        if key in self.kind.documents:
            document = json.loads(text) or []
            return sorted(document, key=json.dumps) if self.is_any_order else document
        if key not in self.kind.texts:
            return text
        bare = unpadded(text)
        return sorted(re.split("[:;]", bare)) if self.is_any_order and bare else bare

    def _of_bind(self, done: Any, step: Json, outcome: Json) -> list[tuple[str, object, object]]:
        locks = {
            name: {NODE_LOCK: _masked(notes[NODE_LOCK])}
            for name, node in self.nodes.items()
            if NODE_LOCK in (notes := node["metadata"].get("annotations", {}))
        }
        recorded = {
            name: {key: _masked(text) for key, text in each.items()}
            for name, each in outcome["locks"].items()
        }
        del step
        notes = {key: self._form(key, text) for key, text in self.written.items() if text}
        return [
            ("error", outcome.get("error", ""), done),
            ("locks", recorded, locks),
            ("annotations", outcome.get("annotations", {}), notes),
        ]

    def _of_devices(self, devices: Json) -> list[tuple[str, object, object]]:
        found: list[tuple[str, object, object]] = []
        for name in self.nodes:
            inventory = self._inventory(name)
            recorded = [
                device
                for word in self.kind.registers
                for device in devices.get(name, {}).get(word, ())
            ]
            ours = (
                [] if inventory is None else recorded_form(inventory, has_mode=self.kind.has_mode)
            )
            found.append((f"devices of {name}", recorded, ours))
        return found

    def _inventory(self, name: str) -> Any:
        row = self.live.ledger.rows.get(name)
        return None if row is None else self.live.ledger.inventories_at(row).get(self.family.name)

    def _usage(self) -> dict[str, Any]:
        self.live.ledger.check()
        return usage_of(self.live.ledger)

    # Listed differences

    def _excuse(self, step: Json, done: Any, outcome: Json) -> None:
        """Raise the rule by which a step may come out differently, if there is one."""
        if self.scenario["maxDevicesPerNode"] > STABLE_MAX:
            raise Skip("stable sort")
        rule = self._rule(step, done, outcome)
        if rule:
            raise Skip(rule)

    def _rule(self, step: Json, done: Any, outcome: Json) -> str:
        texts = " ".join(done.refusals.values()) if isinstance(done, Filtered) else ""
        for part, rule in (
            ("device registration malformed", "malformed registration"),
            ("unreadable", "unreadable"),
            ("which is not a whole number", "senseless quantity"),
        ):
            if part in texts:
                return rule
        if outcome["result"] == "passed" and _result(done) in {"placed", "refused"}:
            return "spelling"
        if step["do"] == "bind":
            return _bind_rule(done or "") or self._lock_rule(step)
        if "devices" in outcome:
            return self._registration_rule(outcome["devices"])
        return self._pod_rule()

    def _lock_rule(self, step: Json) -> str:
        pod = self.pods.get(step["pod"])
        if pod is None or self.family.ask(pod) is None:
            return ""
        apps = structs.replace(pod.spec, init_containers=())
        return "init lock" if self.family.ask(structs.replace(pod, spec=apps)) is None else ""

    def _registration_rule(self, devices: Json) -> str:
        """Return the rule by which some node has other devices here than in HAMi."""
        for name, node in self.nodes.items():
            allocatable = node["status"].get("allocatable", {})
            counts = {allocatable.get(count, "0") for _, count in self.kind.registers.values()}
            if counts != {"0"}:
                continue
            inventory = self._inventory(name)
            if inventory is None and name in devices:
                return "flapping"
            if inventory is not None and name in devices:
                return "registration at once"
        return self._pod_rule()

    def _pod_rule(self) -> str:
        """Return a rule about who holds what, if some pod here falls under it."""
        if self.has_cordoned:
            return "cordon at once"
        for pod in self.pods.values():
            found = _rule_of(pod)
            if found:
                return found
        return ""


class _Unequal(Exception):
    """Something that has to be equal is not, before a step has come to its end."""


def _rule_of(pod: Pod) -> str:
    notes = pod.annotations
    place = notes.get("hami.io/vgpu-node")
    if pod.is_finished or place is None:
        return ""
    if pod.node_name and pod.node_name != place:
        return "elsewhere"
    if notes.get(BIND_PHASE) == "failed" and not pod.node_name:
        return "failed bind"
    if pod.is_terminating:
        return "terminating"
    if pod.spec.init_containers:
        return "init ended" if pod.is_init_done else "padding"
    return ""


def _bind_rule(error: str) -> str:
    if "has been locked" in error:
        return "strangers"
    if "reserved" in error or "being bound already" in error:
        return "reserved"
    if "parsing time" in error or "malformed lock" in error:
        return "malformed lock"
    return "waits" if "contention" in error else ""


def _result(done: Any) -> str:
    match done:
        case None:
            return "absent"
        case Admitted():
            return "denied"
        case Filtered(error=error) if error:
            return "error"
        case Filtered(passes=True):
            return "passed"
        case Filtered(node=None):
            return "refused"
        case _:
            return "placed"


def _submitted(pod: Pod, raw: Json) -> Submitted:
    spec = raw["spec"]
    containers = [*spec.get("initContainers", ()), *spec.get("containers", ())]
    privileged = (
        each["name"] for each in containers if (each.get("securityContext") or {}).get("privileged")
    )
    return Submitted(
        pod=pod,
        scheduler_name=spec.get("schedulerName", ""),
        privileged=next(privileged, ""),
        has_runtime_class=bool(spec.get("runtimeClassName")),
    )


def _first(step: Json) -> Json:
    found: Json = step["outcome"] if "outcome" in step else step["outcomes"][0]["outcome"]
    return found


def _has_ended(status: Json) -> bool:
    ended = (status.get("state") or {}).get("terminated")
    return ended is not None and ended.get("exitCode", 0) == 0


def _moment(text: str | None) -> str | None:
    if text is None:
        return None
    found = re.match(r"<now(?:-(\d+)m)?>", text)
    if found is None:
        return text
    moment = datetime.fromtimestamp(NOW_S - 60 * int(found[1] or 0), UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") + text[found.end() :]


def _masked(lock: str) -> str:
    return re.sub(r"^(<time>|\d[^,]*)", "<time>", lock)


def _told(quota: Json) -> dict[str, Any]:
    """Return quotas without what is neither used nor limited."""
    found = {
        namespace: {
            name: each for name, each in entries.items() if each.get("used") or "limit" in each
        }
        for namespace, entries in quota.items()
    }
    return {namespace: entries for namespace, entries in found.items() if entries}


def schema_quantities(limits: Mapping[str, str]) -> dict[str, int]:
    """Return quantities by value, zero ones left out."""
    found = nano({name: parse(text) for name, text in limits.items()})
    return {name: value for name, value in found.items() if value}
