"""The metrics after a rebuild from a dump are those that HAMi's scheduler served at that moment."""

import gzip
import json
import re
from pathlib import Path

import pytest

from springtide.apps.extender.setup import device_config
from springtide.apps.planner.families import Policies, families
from springtide.engine.live import Live, LiveSettings
from tests.builders import mig_card
from tests.memorycluster import MemoryCluster
from tests.running import NODE, NODES, PODS, SCHEDULER, World, pod_object, run, running

DUMP = Path(__file__).parents[3] / "recorded" / "cluster-dump"
SAMPLE = re.compile(r"(?P<name>\w+)\{(?P<labels>.*)\} (?P<value>\S+)")
LABEL = re.compile(r'(\w+)="([^"]*)"')
BUILD = "hami_build_info"
PLACES = {"Node": NODES, "Pod": PODS}
INSTANCE = "hami_node_gpu_mig_instance_info"
HANDSHAKE = "hami.io/node-handshake"

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(text: str) -> Samples:
    """Return HAMi's own numbers by name and labels, but for the version."""
    found = filter(None, map(SAMPLE.fullmatch, text.splitlines()))
    return {
        (each["name"], frozenset(LABEL.findall(each["labels"]))): float(each["value"])
        for each in found
        if each["name"].startswith("hami_") and each["name"] != BUILD
    }


def dumped(moment: str) -> World:
    """Return the cluster of a dump, whose plugins have just answered."""
    world = World()
    for each in json.loads(gzip.decompress((DUMP / f"{moment}.json.gz").read_bytes()))["items"]:
        metadata = each["metadata"]
        if HANDSHAKE in metadata.get("annotations", {}):
            metadata["annotations"][HANDSHAKE] = "Reported"
        world.store.create(PLACES[each["kind"]], metadata.get("namespace", ""), each)
    return world


@pytest.mark.parametrize("moment", ["before", "after"])
def test_every_number_of_hami_is_served_again(moment: str) -> None:
    config = device_config((DUMP / "hami-device-config.yaml").read_bytes(), "the configuration")
    live = Live(families(config, Policies()), LiveSettings(scheduler_name=SCHEDULER))
    served = gzip.decompress((DUMP / f"{moment}-hami-metrics.txt.gz").read_bytes()).decode()

    async def work() -> str:
        async with running(MemoryCluster(dumped(moment).store), live=live) as extender:
            return (await extender.get("/metrics")).body.decode()

    ours = samples(run(work()))

    assert len(ours) > 1000
    assert ours == samples(served)


def allocation(position: int, **made: object) -> dict[str, object]:
    """Return one entry of what is written on a pod about its MIG instances."""
    return {
        "containerIndex": 0,
        "deviceIndex": position,
        "gpuUUID": "GPU-0",
        "profile": "1g.5gb",
        "placement": {"start": 6 - position, "size": 1},
        **made,
    }


def test_mig_instances_are_told_once_their_plugin_has_made_them() -> None:
    world = World()
    world.add_node("gpu-1", mig_card())
    made = {"migUUID": "MIG-a", "gpuInstanceID": 7, "computeInstanceID": 0}
    text = "GPU-0,NVIDIA,4864,15:GPU-0,NVIDIA,4864,15:;"
    notes = {
        NODE: "gpu-1",
        "hami.io/vgpu-devices-allocated": text,
        "hami.io/vgpu-mig-allocations": json.dumps([allocation(0, **made), allocation(1)]),
    }
    running_pod = pod_object("train", gpu=2, gpumem=4000)
    running_pod["metadata"]["annotations"] = notes
    running_pod["spec"]["nodeName"] = "gpu-1"
    world.store.create(PODS, "team", running_pod)

    async def work() -> str:
        async with running(MemoryCluster(world.store)) as extender:
            return (await extender.get("/metrics")).body.decode()

    served = run(work())

    (line,) = [each for each in served.splitlines() if each.startswith(f"{INSTANCE}{{")]
    assert line == (
        f'{INSTANCE}{{node="gpu-1",device_uuid="GPU-0",device_index="0",mig_uuid="MIG-a",'
        'profile="1g.5gb",gpu_instance_id="7",compute_instance_id="0",'
        'placement_start="6",placement_size="1",zone="vGPU"} 1'
    )
