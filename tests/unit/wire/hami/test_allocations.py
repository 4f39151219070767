"""Which allocation texts count, and for which container."""

import pytest
from msgspec import structs

from springtide.model.device import Grant
from springtide.model.pod import Container, Pod, PodSpec
from springtide.wire.hami.allocations import fell_back, realigned, without_ended_init

A, B = ((Grant(device_id=each, type="X", memory_mib=1, cores=0),) for each in "ab")
FAILED = Pod(
    namespace="n",
    name="p",
    uid="u",
    spec=PodSpec(containers=(Container(name="app"),), init_containers=(Container(name="init"),)),
    annotations={"hami.io/bind-phase": "failed"},
)


@pytest.mark.parametrize(
    ("granted", "is_asking", "expected"),
    [
        ((A, (), B), [True, False, True], (A, (), B)),
        ((A, B), [True, False, True], (A, (), B)),
        ((A,), [False, False, True], ((), (), A)),
        ((A, B), [False, False, True], (A, B, ())),
        ((), [True], ((),)),
    ],
)
def test_short_lists_are_dealt_to_containers_that_ask(
    granted: object, is_asking: list[bool], expected: object
) -> None:
    assert realigned(granted, is_asking) == expected  # type: ignore[arg-type]  # rows of the table


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"node_name": "n1"}, False),
        ({"phase": "Running"}, False),
        ({"annotations": {"hami.io/bind-phase": "success"}}, False),
    ],
)
def test_a_failed_bind_counts_while_the_pod_waits(
    change: dict[str, object], *, expected: bool
) -> None:
    assert fell_back(structs.replace(FAILED, **change)) is expected


def test_init_containers_hold_until_they_have_ended() -> None:
    ended = structs.replace(FAILED, is_init_done=True)

    assert without_ended_init((A, B), FAILED) == (A, B)
    assert without_ended_init((A, B), ended) == ((), B)
