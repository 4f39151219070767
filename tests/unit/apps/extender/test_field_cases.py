"""Situations from the field that are about calls of schedulers, over HTTP."""

from typing import Any

import msgspec
import pytest

from springtide.apps.extender import Deadlines, Settings
from tests.loopback import call
from tests.running import Standing, Unwilling, World, run, running

NULL = b"null"
FILTERS_WITHOUT_SENSE: list[bytes | dict[str, Any]] = [
    b"",
    NULL,
    {"NodeNames": ["n1"]},
    {"Pod": None, "NodeNames": ["n1"]},
    {"Pod": {"metadata": {"name": "p"}}},
    b"not json",
]


def one_node() -> World:
    """Return a cluster of one node with one card."""
    world = World()
    world.add_node("n1")
    return world


def assert_nothing_is_held(extender: Standing) -> None:
    """See that no call has left anything."""
    assert not extender.live.tracking.reservations
    assert not extender.live.ledger.holdings
    assert not extender.live.ledger.quotas.counts()


@pytest.mark.parametrize("body", FILTERS_WITHOUT_SENSE)
def test_fc_025_a_filter_call_without_sense_gets_an_error_and_changes_nothing(
    body: bytes | dict[str, Any],
) -> None:
    world = one_node()

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            answered = await extender.post("/filter", body)
            assert_nothing_is_held(extender)
            after = await extender.filter(world.add_pod("p", gpu=1), "n1")

            assert answered["Error"]
            assert (answered["Nodes"], answered["NodeNames"]) == (None, None)
            assert after["NodeNames"] == ["n1"]

    run(work())


def test_fc_025_a_bind_call_without_sense_gets_an_error_and_changes_nothing() -> None:
    world = one_node()

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            answered = await extender.post("/bind", {})

            assert answered["Error"] == "extender binding args missing PodName"
            assert world.lock("n1") is None
            assert_nothing_is_held(extender)

    run(work())


def lowered(value: dict[str, Any]) -> dict[str, Any]:
    """Return a call as people write it by hand."""
    return {f"{key[0].lower()}{key[1:]}": each for key, each in value.items()}


@pytest.mark.parametrize("amount", ["1000", 1000])
def test_fc_040_both_spellings_of_a_call_are_read_and_answered_as_go_spells_them(
    amount: str | int,
) -> None:
    async def filtered(*, is_lowered: bool) -> dict[str, Any]:
        world = one_node()
        pod = world.add_pod("p", gpu=1)
        pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpumem"] = amount
        body = {"Pod": pod, "Nodes": None, "NodeNames": ["n1"]}
        async with running(Unwilling(world.store)) as extender:
            found: dict[str, Any] = await extender.post(
                "/filter", lowered(body) if is_lowered else body
            )
            assert await extender.bind(pod, "n1") == ""
            memory = world.annotations("p")["hami.io/vgpu-devices-allocated"].split(",")[2]
            assert memory == "1000"
            return found

    spelled, low = (run(filtered(is_lowered=each)) for each in (False, True))

    assert spelled == low
    assert spelled == {
        "Nodes": None,
        "NodeNames": ["n1"],
        "FailedNodes": None,
        "FailedAndUnresolvableNodes": None,
        "Error": "",
    }


def test_fc_043_a_filter_call_with_both_forms_of_nodes_is_refused_before_any_work() -> None:
    world = one_node()
    pod = world.add_pod("p", gpu=1)
    both = {"Pod": pod, "NodeNames": ["n1"], "Nodes": {"items": [{"metadata": {"name": "n1"}}]}}

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            answered = await extender.post("/filter", both)

            assert "Nodes and NodeNames exclude each other" in answered["Error"]
            assert_nothing_is_held(extender)

    run(work())


def test_fc_043_a_filter_call_needs_a_leader_that_knows_the_cluster() -> None:
    world = one_node()
    pod = world.add_pod("p", gpu=1)
    settings = Settings(deadlines=Deadlines(ready_s=0.01, drain_s=1.0))

    async def work() -> None:
        async with running(Unwilling(world.store), settings=settings) as extender:
            extender.process.scheduling.lead(is_leading=False)
            follower = await extender.filter(pod, "n1")
            extender.process.scheduling.lead(is_leading=True)
            extender.process.scheduling.ready.clear()
            unknowing = await extender.filter(pod, "n1")
            extender.process.scheduling.ready.set()

            assert follower["Error"]
            assert unknowing["Error"]
            assert_nothing_is_held(extender)
            page = await call(extender.calls, "GET", "/openapi.json")
            assert msgspec.json.decode(page.body)["openapi"] == "3.1.0"

    run(work())
