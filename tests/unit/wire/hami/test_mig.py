"""MIG reservations of a pod."""

import json

import pytest

from springtide.model.device import MigPlacement
from springtide.wire.hami import Malformed, mig
from springtide.wire.hami.mig import Reservation

PARTIAL = "MIG allocation 0 has partial runtime identity"
RESERVED = Reservation(
    container_index=0,
    device_index=0,
    device_id="GPU-a",
    profile="2g.10gb",
    placement=MigPlacement(start=2, size=2),
)


def entry(**changes: object) -> dict[str, object]:
    return {
        "containerIndex": 0,
        "deviceIndex": 0,
        "gpuUUID": "GPU-a",
        "profile": "2g.10gb",
        "placement": {"start": 2, "size": 2},
    } | changes


def test_a_reservation_is_written_as_the_plugin_reads_it() -> None:
    text = mig.encode([RESERVED])

    assert json.loads(text) == [entry()]
    assert mig.decode(text) == (RESERVED,)


@pytest.mark.parametrize("text", ["", "null", "[]"])
def test_nothing_is_reserved(text: str) -> None:
    assert mig.decode(text) == ()


def test_t11_an_id_of_zero_is_an_id() -> None:
    realised = entry(migUUID="MIG-a", gpuInstanceID=0, computeInstanceID=0)

    (read,) = mig.decode(json.dumps([realised]))

    assert (read.gpu_instance_id, read.compute_instance_id, read.mig_id) == (0, 0, "MIG-a")
    assert json.loads(mig.encode([read])) == [realised]


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        pytest.param(
            [entry(), entry()], "duplicate MIG allocation for container 0 device 0", id="T10"
        ),
        pytest.param([entry(migUUID="MIG-a")], PARTIAL, id="T12"),
        ([entry(gpuInstanceID=1)], PARTIAL),
        ([entry(computeInstanceID=0)], PARTIAL),
        ([entry(migUUID="MIG-a", gpuInstanceID=1)], PARTIAL),
        ([entry(migUUID="", gpuInstanceID=1, computeInstanceID=0)], PARTIAL),
        ([entry(), entry(deviceIndex=-1)], "MIG allocation 1 is incomplete"),
        ([entry(gpuUUID="")], "MIG allocation 0 is incomplete"),
        ([entry(profile="")], "MIG allocation 0 is incomplete"),
        ([entry(placement={"start": 1})], "MIG allocation 0 is incomplete"),
        ([None], "[0] is null, not an object"),
    ],
)
def test_one_broken_reservation_refuses_all(entries: list[object], fault: str) -> None:
    with pytest.raises(Malformed) as raised:
        mig.decode(json.dumps(entries))

    assert str(raised.value) == fault


def test_broken_json_is_malformed() -> None:
    with pytest.raises(Malformed):
        mig.decode("[{")
