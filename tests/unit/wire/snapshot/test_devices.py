"""Annotations of device plugins: ids change, everything that counts stays."""

import json
import re

import pytest

from springtide.wire.hami import containers, mig, register
from springtide.wire.snapshot import Names
from springtide.wire.snapshot.devices import rewritten

ID = "GPU-9561b2cf-9547-43b4-a190-b8f78abbfd0b"
NEW = re.compile(r"GPU-[0-9a-f-]{36}")


def rewrite(key: str, value: str) -> str:
    """Return what becomes of one annotation."""
    changed = rewritten({key: value}, Names(b"key"))[key]
    assert isinstance(changed, str)
    return changed


def test_a_registration_keeps_everything_but_ids() -> None:
    device = {
        "id": ID,
        "index": 1,
        "count": 10,
        "devmem": 24576,
        "type": "NVIDIA A10",
        "health": True,
    }
    before = json.dumps([device])

    after = rewrite("hami.io/node-nvidia-register", before)

    (old,), (new,) = register.decode(before), register.decode(after)
    assert NEW.fullmatch(new.id)
    assert new.id != old.id
    assert (new.memory_mib, new.type, new.index) == (old.memory_mib, old.type, old.index)


def test_an_allocation_names_the_registered_device() -> None:
    names = Names(b"key")
    annotations = {
        "hami.io/node-nvidia-register": json.dumps([{"id": ID}]),
        "hami.io/vgpu-devices-allocated": f"{ID},NVIDIA,2000,10:;;{ID}[0-1],NVIDIA,5,0:;",
    }

    changed = rewritten(annotations, names)

    new = json.loads(changed["hami.io/node-nvidia-register"])[0]["id"]
    grants = containers.decode(changed["hami.io/vgpu-devices-allocated"])
    assert [[grant.device_id for grant in each] for each in grants] == [
        [new],
        [],
        [f"{new}[0-1]"],
        [],
    ]
    assert grants[0][0].memory_mib == 2000


def test_the_older_form_of_a_registration_is_rewritten_too() -> None:
    after = rewrite("hami.io/node-nvidia-register", f"{ID},10,24576,100,NVIDIA A10,0,true:")

    assert NEW.match(after)
    assert after.endswith(",10,24576,100,NVIDIA A10,0,true:")


def test_scores_name_both_ends() -> None:
    before = json.dumps([{"uuid": ID, "score": {"GPU-b": 7}}])

    (after,) = json.loads(rewrite("hami.io/node-nvidia-score", before))

    assert ID not in json.dumps(after)
    assert list(after["score"].values()) == [7]
    assert NEW.fullmatch(*after["score"])


def test_reservations_of_instances_stay_readable() -> None:
    before = json.dumps(
        [
            {"containerIndex": 0, "deviceIndex": 0, "gpuUUID": ID, "profile": "1g.5gb",
             "placement": {"start": 1, "size": 1}, "migUUID": "MIG-x",
             "gpuInstanceID": 7, "computeInstanceID": 0}
        ]
    )  # fmt: skip

    (after,) = mig.decode(rewrite("hami.io/vgpu-mig-allocations", before))

    assert NEW.fullmatch(after.device_id)
    assert (after.profile, after.placement.start, after.gpu_instance_id) == ("1g.5gb", 1, 7)


@pytest.mark.parametrize(
    "key", ["nvidia.com/use-gpuuuid", "nvidia.com/nouse-gpuuuid", "hami.io/device-cordon"]
)
def test_lists_of_ids_are_rewritten(key: str) -> None:
    first, second = rewrite(key, f"{ID}, GPU-b").split(", ")

    assert NEW.fullmatch(first)
    assert NEW.fullmatch(second)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("nvidia.com/use-gputype", "A10,H100"),
        ("hami.io/node-scheduler-policy", "binpack"),
        ("hami.io/bind-time", "1796021746"),
        ("hami.io/bind-phase", "success"),
        ("hami.io/device-scoring-weights", '{"slots":10}'),
        ("cluster-autoscaler.kubernetes.io/daemonset-pod", "true"),
    ],
)
def test_what_says_nothing_about_anybody_stays(key: str, value: str) -> None:
    assert rewrite(key, value) == value


def test_an_unreadable_registration_stays_unreadable_without_names() -> None:
    names = Names(b"key")
    names.know("gpu-1", "node")

    changed = rewritten({"hami.io/node-nvidia-register": '[{"id": gpu-1'}, names)

    assert "gpu-1" not in changed["hami.io/node-nvidia-register"]


@pytest.mark.parametrize(
    "key",
    [
        "hami.io/node-nvidia-register",
        "hami.io/vgpu-devices-allocated",
        "hami.io/something-new",
        "nvidia.com/use-gpuuuid",
        "hami.io/vgpu-node",
    ],
)
@pytest.mark.parametrize("text", ["alice", "alice;bob", '{"owner":"alice"}', "[alice"])
def test_what_is_no_annotation_of_devices_tells_nothing(key: str, text: str) -> None:
    changed = rewrite(key, text)

    assert "alice" not in changed
    assert "bob" not in changed


def test_annotations_that_nobody_reads_are_left_out() -> None:
    assert rewritten({"acme.com/owner": "alice", "checksum/config": "1"}, Names(b"key")) == {}
