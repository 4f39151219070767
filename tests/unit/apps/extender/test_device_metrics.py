"""The metrics after a rebuild from a dump are those that HAMi's scheduler served at that moment."""

import gzip
import json
import re
from pathlib import Path

import pytest

from springtide.apps.extender.setup import device_config
from springtide.apps.planner.families import Policies, families
from springtide.engine.live import Live, LiveSettings
from tests.memorycluster import MemoryCluster
from tests.running import NODES, PODS, SCHEDULER, World, run, running

DUMP = Path(__file__).parents[3] / "recorded" / "cluster-dump"
SAMPLE = re.compile(r"(?P<name>\w+)\{(?P<labels>.*)\} (?P<value>\S+)")
LABEL = re.compile(r'(\w+)="([^"]*)"')
BUILD = "hami_build_info"
PLACES = {"Node": NODES, "Pod": PODS}
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
