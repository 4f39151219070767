"""The ConfigMap of values: its bounds, and what several workloads cannot share."""

import asyncio

import pytest

from springtide.edge.cluster import CONFIG_MAPS, Target
from springtide.edge.kube import KubeCluster, Waiting
from springtide.edge.machine import SeededRng
from springtide.edge.store import Denied, Oversized
from springtide.edge.store.kubernetes.values import MAP_BYTES_MAX, ValuesMap, check_owned
from springtide.model.replicas.values import VALUE_BYTES_MAX, Folder, ValueKey
from tests.kubeapi import Direct, KubeApi
from tests.objectstore import ObjectStore
from tests.virtual import LoopClock, run

ROOMS = Folder(name="rooms")
TARGET = Target(resource=CONFIG_MAPS, namespace="t", name="chat-hpa-values")


def a_map() -> ValuesMap:
    waiting = Waiting(clock=LoopClock(), rng=SeededRng(1))
    return ValuesMap(KubeCluster(Direct(KubeApi(ObjectStore())), waiting=waiting), TARGET)


def test_all_values_together_fit_into_one_object() -> None:
    async def work() -> None:
        values, text = a_map(), "x" * VALUE_BYTES_MAX
        room = MAP_BYTES_MAX // VALUE_BYTES_MAX - 1
        for number in range(room):
            await values.put(ValueKey(Folder(name=f"rooms{number % 3}"), str(number)), text)

        with pytest.raises(Oversized, match="chat-hpa-values"):
            await values.put(ValueKey(ROOMS), text)
        await values.put(ValueKey(Folder(name="rooms0"), "0"), "short")
        await values.put(ValueKey(ROOMS), text[:-100])

    run(work())


def test_many_that_write_at_once_lose_nothing() -> None:
    async def work() -> None:
        values = a_map()
        keys = [ValueKey(ROOMS, str(number)) for number in range(8)]
        done = await asyncio.gather(*(values.put(each, "1") for each in keys))

        config = await values.read()
        assert config is not None
        assert len(config.data) == len(set(done)) == len(keys)

    run(work())


def test_what_is_equal_is_not_written_again() -> None:
    async def work() -> None:
        values = a_map()
        first = await values.put(ValueKey(ROOMS), "1")

        assert await values.put(ValueKey(ROOMS), "1") == first
        assert await values.put(ValueKey(ROOMS, "none"), "") == first

    run(work())


def test_what_several_workloads_would_share_is_denied_with_the_remedy() -> None:
    async def work() -> None:
        shared = Folder(name="regions", has_target=False)

        with pytest.raises(Denied, match=r"regions.*etcd"):
            check_owned(shared)
        with pytest.raises(Denied, match=r"regions.*etcd"):
            await a_map().put(ValueKey(shared), "1")

    run(work())
