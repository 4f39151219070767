"""How many pods a second are bound on a real control plane, and how much of the time is ours?

An unmodified etcd, API server, controller manager and kube-scheduler with raised client limits call the
extender in a process of its own; device plugins answer at once. All of it shares the cores of this
machine, so beside the rates it is told what CPU each program takes for a pod, and how fast pods without
devices go, which nobody asks the extender about. Pods come from several threads, and are counted from the
first that is asked for to the last that is bound.
"""

import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from bench.figure import Figure
from tests.e2e import ours
from tests.e2e.commands import Object, Setup
from tests.e2e.controlplane import MISSING, ControlPlane, all_programs, control_plane
from tests.e2e.crowds import PATIENT_S, a_cluster, create_all, create_nodes, metrics, samples
from tests.e2e.objects import PODS, a_pod
from tests.e2e.waiting import eventually
from tests.standin.answering import Answering
from tests.standin.live import CARDS

SIZES: Final = ((50, 500), (500, 1_000))
PEER: Final = {(50, 500): 36, (500, 1_000): 17}
"""Pods a second that HAMi's scheduler binds here."""
PLAIN: Final = "no devices"
LIMIT_S: Final = 300.0
WARM_PODS: Final = 50
"""Pods that go first, so that nobody is measured who has just started."""
PROGRAMS: Final = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
OURS: Final = "extender"
BENCH: Final = "pods and plugins"
VERBS: Final = ("GET", "POST", "PATCH", "PUT", "DELETE")
RESOURCES: Final = ("pods", "nodes", "events")
PREFIX: Final = "springtide_extender"
_BUCKET: Final = re.compile(r'le="([^"]+)"')


class Situation(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be measured; the policy of `PLAIN` is that pods ask for no devices."""

    programs: Path
    nodes: int
    pods: int
    policy: str = "spread"

    @property
    def name(self) -> str:
        """Return how the figures of it are called."""
        return f"{self.nodes} nodes, {self.policy}"


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What one run came to: times, what the extender says, and requests and CPU by what or whom."""

    took_s: float
    created_s: float
    told: Mapping[str, float]
    requests: Mapping[str, float]
    cpu_s: Mapping[str, float]
    memory_mib: float


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """What runs, and where to look at it."""

    plane: ControlPlane
    plugins: Answering
    port: int
    pids: Mapping[str, int]


def measure() -> Iterator[Figure]:
    """Yield the figures of each size, and of the smaller one packed, and without devices."""
    programs = all_programs()
    if programs is None:
        print(f"end_to_end: nothing is measured. {MISSING}.")
        return
    for nodes, pods in SIZES:
        yield from figures(Situation(programs=programs, nodes=nodes, pods=pods))
    nodes, pods = SIZES[0]
    yield from figures(Situation(programs=programs, nodes=nodes, pods=pods, policy="binpack"))
    yield _rate(
        plain := Situation(programs=programs, nodes=nodes, pods=pods, policy=PLAIN), run(plain)
    )


def figures(situation: Situation) -> Iterator[Figure]:
    """Measure one situation."""
    seen = run(situation)
    name, pods = situation.name, situation.pods
    yield _rate(situation, seen)
    for call in ("filter", "bind"):
        how = "at most, whole calls by our metrics"
        yield Figure(f"{name}, {call}, half", _late(seen.told, call, 0.5) * 1e3, "ms", how)
        yield Figure(f"{name}, {call}, 99 of 100", _late(seen.told, call, 0.99) * 1e3, "ms", how)
    failed = seen.told.get(f'{PREFIX}_binds_total{{outcome="failed"}}', 0.0)
    yield Figure(f"{name}, failed binds", failed, "binds", "that go to the scheduler's backoff")
    asked = ", ".join(f"{count / pods:.2f} {what}" for what, count in seen.requests.items())
    yield Figure(f"{name}, requests", sum(seen.requests.values()) / pods, "a pod", asked)
    spent = ", ".join(f"{whose} {used / pods * 1e3:.1f}" for whose, used in seen.cpu_s.items())
    yield Figure(f"{name}, our CPU", seen.cpu_s[OURS] / pods * 1e3, "ms a pod", f"of {spent}")
    yield Figure(f"{name}, our memory", seen.memory_mib, "MiB", "of the whole process")


def run(situation: Situation) -> Seen:
    """Start everything, let pods come, and return what was seen."""
    port = ours.free_port()
    setup = Setup(has_controllers=True, extenders=(ours.configured(port),), grace_s=PATIENT_S)
    policy = "spread" if situation.policy == PLAIN else situation.policy
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        options, log = [f"--node-scheduler-policy={policy}"], path / "extender.log"
        with (
            control_plane(situation.programs, path, setup) as plane,
            ours.extender(plane, port, log, options=options) as process,
            a_cluster(plane) as (cluster, aside),
        ):
            create_nodes(plane, situation.nodes)
            ours.wait_for_devices(port, situation.nodes * CARDS)
            plugins = Answering(cluster)
            aside.start(plugins.run())
            pids = {name: plane.processes.process_id(name) for name in PROGRAMS}
            pids |= {OURS: process.pid, BENCH: os.getpid()}
            watched = Watched(plane=plane, plugins=plugins, port=port, pids=pids)
            _bound(watched, [_pod(f"warm-{n}", situation.policy) for n in range(WARM_PODS)])
            return _seen(situation, watched)


def _seen(situation: Situation, watched: Watched) -> Seen:
    bodies = [_pod(f"pod-{number}", situation.policy) for number in range(situation.pods)]
    told, requests = metrics(watched.port), _requests(watched.plane)
    cpu_s = {whose: _cpu_s(pid) for whose, pid in watched.pids.items()}
    begun_s = time.perf_counter()
    created_s = _bound(watched, bodies)
    spent_s = {whose: _cpu_s(pid) - cpu_s[whose] for whose, pid in watched.pids.items()}
    return Seen(
        took_s=max(watched.plugins.bound_s.values()) - begun_s,
        created_s=created_s,
        told=_gone_up(told, metrics(watched.port)),
        requests=_gone_up(requests, _requests(watched.plane)),
        cpu_s=spent_s,
        memory_mib=_memory_mib(watched.pids[OURS]),
    )


def _bound(watched: Watched, bodies: list[Object]) -> float:
    """Let pods come and return when all are bound and served; the value is how long they took to come."""
    plugins = watched.plugins
    count = len(plugins.bound_s) + len(bodies)
    begun_s = time.perf_counter()
    create_all(watched.plane, PODS, bodies)
    created_s = time.perf_counter() - begun_s
    eventually(lambda: len(plugins.bound_s), lambda found: found == count, limit_s=LIMIT_S)
    eventually(lambda: plugins.waiting, lambda found: found == 0, limit_s=LIMIT_S)
    return created_s


def _pod(name: str, policy: str) -> Object:
    return a_pod(name) if policy == PLAIN else ours.share_of_a_card(name, memory_mib=2000, cores=5)


def _rate(situation: Situation, seen: Seen) -> Figure:
    peer = PEER.get((situation.nodes, situation.pods)) if situation.policy == "spread" else None
    how = f"{situation.pods:,} pods, created within {seen.created_s:.1f} s"
    if peer:
        how += f"; HAMi's scheduler binds {peer}"
    return Figure(situation.name, situation.pods / seen.took_s, "pods/s", how)


def _gone_up(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    counts = {key: count - before.get(key, 0.0) for key, count in after.items()}
    return {key: count for key, count in counts.items() if count}


def _requests(plane: ControlPlane) -> dict[str, float]:
    """Return how many requests the API server has taken, by verb and what they are about."""
    counts: dict[str, float] = {}
    for key, count in samples(plane.ask("GET", "/metrics")).items():
        name, _, labels = key.partition("{")
        if name != "apiserver_request_total":
            continue
        said = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        if said["verb"] in VERBS and said["resource"] in RESOURCES:
            about = "/".join(filter(None, (said["resource"], said["subresource"])))
            what = f"{said['verb']} {about}"
            counts[what] = counts.get(what, 0.0) + count
    return counts


def _late(told: Mapping[str, float], call: str, part: float) -> float:
    """Return the bound of the bucket in which so large a part of the calls ends."""
    buckets = sorted(
        (float(found.group(1)), count)
        for key, count in told.items()
        if key.startswith(f"{PREFIX}_{call}_seconds_bucket") and (found := _BUCKET.search(key))
    )
    wanted = max(count for _, count in buckets) * part
    return next(bound for bound, count in buckets if count >= wanted)


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory_mib(pid: int) -> float:
    return (
        int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20
    )
