"""A dump made by kubectl, kube-scheduler and HAMi, read as a user would give it.

What HAMi's metrics and the recorded events say about the same moment is the judge.
"""

import gzip
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from springtide.apps.planner import PlanReport, Request, run
from springtide.apps.planner.assemble import assemble
from springtide.apps.planner.families import Policies, families
from springtide.apps.planner.picture import Picture
from springtide.edge import files
from springtide.wire.documents import Input, decode
from springtide.wire.source import Source
from tests.world import FirstRng, FixedClock

DUMP = Path(__file__).parents[2] / "recorded" / "cluster-dump"
GROUPS = ("a100-80g", "a100-40g", "l4", "t4")
METRIC = re.compile(r'^(\w+)\{.*device_uuid="([^"]+)".*\} (\S+)$')
MIB = 1 << 20


def read(moment: str, *extra: str, configuration: str = "") -> Input:
    paths = [
        DUMP / f"{moment}.json.gz",
        DUMP / f"{configuration or moment}-scheduler-configuration.yaml",
        DUMP / "hami-device-config.yaml",
    ]
    sources = files.read([str(path) for path in paths], stdin=io.BytesIO())
    groups = [
        {
            "name": name,
            "nodeSelector": {"matchLabels": {"example.com/node-group": name}},
            "maxSize": 20,
        }
        for name in GROUPS
    ]
    document = {"apiVersion": "springtide.io/v1alpha1", "kind": "NodeGroups", "groups": groups}
    texts = [json.dumps(document), *extra]
    return decode([*sources, *(Source(f"extra-{n}", t.encode()) for n, t in enumerate(texts))])


def last_events(moment: str) -> dict[str, str]:
    """Return the text of the latest FailedScheduling event of each pod."""
    recorded = json.loads(gzip.decompress((DUMP / f"{moment}-events.json.gz").read_bytes()))
    failed = [each for each in recorded["items"] if each["reason"] == "FailedScheduling"]
    failed.sort(key=lambda each: each["eventTime"] or each["lastTimestamp"])
    return {
        f"{each['involvedObject']['namespace']}/{each['involvedObject']['name']}": each["message"]
        for each in failed
    }


def picture(moment: str) -> Picture:
    found = read(moment)
    return assemble(found, families(found.device_config, Policies()))


def plan(found: Input) -> PlanReport:
    return run(found, Request(), clock=FixedClock(), rng=FirstRng())


def metrics(moment: str) -> Iterator[tuple[str, str, float]]:
    text = gzip.decompress((DUMP / f"{moment}-hami-metrics.txt.gz").read_bytes()).decode()
    for line in text.splitlines():
        if (match := METRIC.match(line)) and "pod=" not in line:
            yield match[1], match[2], float(match[3])


def gauges(moment: str) -> dict[str, dict[str, float]]:
    """Return what our ledger would show as HAMi's gauges, by metric and device."""
    columns = picture(moment).ledger.devices["NVIDIA"]
    shown: dict[str, dict[str, float]] = {}
    for row, code in enumerate(columns.inventory.tolist()):
        if code < 0:
            continue
        for position, device in enumerate(columns.inventories.values[code].devices):
            cell = (row, position)
            memory = int(columns.memory_used[cell])
            values = {
                "hami_gpu_core_allocated_ratio": int(columns.cores_used[cell]),
                "hami_gpu_core_limit_ratio": int(columns.cores_total[cell]),
                "hami_gpu_memory_allocated_bytes": memory * MIB,
                "hami_gpu_memory_limit_bytes": int(columns.memory_total[cell]) * MIB,
                "hami_gpu_shared_count": int(columns.slots_used[cell]),
                "hami_node_gpu_memory_allocated_ratio": memory / int(columns.memory_total[cell]),
                "hami_node_gpu_overview": memory * MIB,
            }
            for metric, value in values.items():
                shown.setdefault(metric, {})[device.id] = value
    return shown


@pytest.mark.parametrize("moment", ["before", "after"])
def test_the_ledger_rebuilt_from_annotations_equals_the_metrics_device_by_device(
    moment: str,
) -> None:
    recorded = list(metrics(moment))

    ours = gauges(moment)

    assert len(recorded) == 7 * 24 * 8
    for metric, device, value in recorded:
        assert ours[metric][device] == pytest.approx(value, rel=1e-9), (metric, device)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_the_ledger_of_a_real_dump_holds_its_invariants(moment: str) -> None:
    found = picture(moment)

    found.ledger.check()

    assert [cell for cell in found.ledger.overcommitted() if "/NVIDIA/" in cell] == []
    assert found.problems == ()


def test_the_pending_pods_fit_nowhere_for_the_recorded_reason() -> None:
    report = plan(read("after"))

    assert report.pending == 12
    assert not report.is_satisfied
    (stuck,) = report.stuck
    assert len(stuck.pods) == 12
    assert stuck.message == (
        "0/24 nodes are available: 24 8/8 CardInsufficientMemory. "
        "preemption: 0/24 nodes are available: 24 No preemption victims found for incoming pod."
    )
    assert all(group.size_after == group.size_before for group in report.groups)


@pytest.mark.parametrize(("moment", "pending"), [("before", 49), ("after", 12)])
def test_every_pending_pod_is_told_what_its_last_event_says(moment: str, pending: int) -> None:
    found = read(moment)
    conditions = {pod.key: pod.scheduled_message for pod in found.pods if not pod.node_name}
    events = last_events(moment)

    report = plan(found)

    told = {pod: item.message for item in report.stuck for pod in item.pods}
    assert len(told) == pending
    assert told == conditions
    assert told == {pod: events[pod] for pod in told}


def test_a_group_with_larger_cards_would_help() -> None:
    profile = {
        "apiVersion": "springtide.io/v1alpha1",
        "kind": "DeviceProfile",
        "metadata": {"name": "h200"},
        "spec": {
            "nodeSelector": {"matchLabels": {"example.com/node-group": "h200"}},
            "devices": [
                {
                    "vendor": "NVIDIA",
                    "count": 8,
                    "slots": 10,
                    "memoryMiB": 143771,
                    "cores": 100,
                    "type": "NVIDIA-NVIDIA H200",
                    "numa": [0, 0, 0, 0, 1, 1, 1, 1],
                }
            ],
        },
    }
    group = {
        "name": "h200",
        "maxSize": 4,
        "template": {
            "labels": {"example.com/node-group": "h200", "gpu": "on"},
            "capacity": {"cpu": "192", "memory": "2Ti"},
        },
    }
    document = {"apiVersion": "springtide.io/v1alpha1", "kind": "NodeGroups", "groups": [group]}

    report = plan(read("after", json.dumps(document), json.dumps(profile)))

    assert report.is_satisfied
    grown = {group.name: group.size_after for group in report.groups if group.nodes}
    assert grown.keys() == {"h200"}
    placed = Counter(pod for group in report.groups for node in group.nodes for pod in node.pods)
    assert len(placed) == 12
    assert set(placed.values()) == {1}


def test_a_resource_left_out_of_the_configuration_is_blamed_and_no_node() -> None:
    report = plan(read("before"))

    asked = [
        item for item in report.stuck if "Insufficient nvidia.com/gpumem-percentage" in item.message
    ]
    assert sum(len(item.pods) for item in asked) == 37
    assert {item.remedy for item in asked} == {
        (
            "The scheduler's configuration is in the way, not a lack of nodes: no node has "
            "nvidia.com/gpumem-percentage, and no extender manages it in the scheduler's place. "
            "Add it to managedResources of the extender, with ignoredByScheduler: true."
        )
    }
    assert {item.closest for item in asked} == {None}
    assert report.summary.endswith(
        "37 of them wait for a change of the scheduler's configuration, not for a node."
    )
    others = [item for item in report.stuck if item not in asked]
    assert {item.remedy for item in others} == {""}


def test_with_the_resource_added_the_pods_fit_the_nodes_that_are_there() -> None:
    report = plan(read("before", configuration="after"))

    assert len(report.fitting) == 37
    assert sum(len(item.pods) for item in report.stuck) == 12
    assert {item.remedy for item in report.stuck} == {""}
