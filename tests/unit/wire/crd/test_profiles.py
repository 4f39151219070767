"""DeviceProfile documents: what they say, and what is refused."""

import json
from typing import Any

import pytest

from springtide.model.device import Device, MigPlacement, MigProfile
from springtide.model.profile import DeviceProfile, Homogeneity, OnMismatch
from springtide.wire.documents import Input, decode
from springtide.wire.errors import InvalidDocument
from springtide.wire.source import Source

NVIDIA = {"vendor": "NVIDIA", "count": 2, "slots": 10, "memoryMiB": 81920, "type": "NVIDIA A100"}
GEOMETRY = {
    "name": "1g.5gb", "memoryMB": 4864, "core": 15, "sliceCount": 1,
    "placements": [{"start": 6, "size": 1}],
}  # fmt: skip


def document(name: str = "a100", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "springtide.io/v1alpha1",
        "kind": "DeviceProfile",
        "metadata": {"name": name},
        "spec": {"nodeSelector": {"matchLabels": {"pool": "a"}}, "devices": [NVIDIA], **spec},
    }


def read(*documents: dict[str, Any]) -> Input:
    return decode([Source("p.json", json.dumps(each).encode()) for each in documents])


def profile(**spec: Any) -> DeviceProfile:
    return read(document(**spec)).profiles[0]


def device(position: int, **fields: Any) -> Device:
    values: dict[str, Any] = {
        "slots": 10, "memory_mib": 81920, "cores": 100, "type": "NVIDIA A100", "mode": "hami-core",
    }  # fmt: skip
    return Device(
        id=f"template-{position}", index=position, is_healthy=True, **{**values, **fields}
    )


def fault(**spec: Any) -> InvalidDocument:
    with pytest.raises(InvalidDocument) as caught:
        read(document(**spec))
    return caught.value


def test_an_entry_is_expanded_by_its_count() -> None:
    found = profile()

    assert found.devices == (("NVIDIA", (device(0), device(1))),)
    assert found.describes({"pool": "a"})
    assert found.homogeneity is Homogeneity.STRICT
    assert found.on_mismatch is OnMismatch.QUARANTINE
    assert found.registration_timeout_s == 600


def test_entries_of_one_vendor_follow_each_other() -> None:
    small = {**NVIDIA, "count": 1, "memoryMiB": 40960}

    found = profile(devices=[NVIDIA, {**NVIDIA, "vendor": "Ascend", "count": 1}, small])

    assert found.devices == (
        ("NVIDIA", (device(0), device(1), device(2, memory_mib=40960))),
        ("Ascend", (device(0, mode=""),)),
    )


@pytest.mark.parametrize(
    ("network", "expected"), [(None, [None, None]), ([3], [3, 3]), ([0, 1], [0, 1])]
)
def test_a_network_is_one_value_a_device_or_one_for_all(network: object, expected: object) -> None:
    found = profile(devices=[{**NVIDIA, "network": network}])

    assert [each.network for each in found.devices[0][1]] == expected


def test_as_many_networks_as_devices_are_wanted() -> None:
    wrong = fault(devices=[{**NVIDIA, "network": [0, 1, 2]}])

    assert "3 values for 2 devices" in str(wrong)


@pytest.mark.parametrize(
    ("numa", "expected"), [([], [0, 0]), ([1], [1, 1]), ([0, 1], [0, 1]), ([0, -1], [0, -3])]
)
def test_numa_is_one_value_a_device_or_one_for_all(numa: object, expected: list[int]) -> None:
    ((_, devices),) = profile(devices=[{**NVIDIA, "numa": numa}]).devices

    assert [each.numa for each in devices] == expected


def test_links_are_scores_between_the_devices_of_an_entry() -> None:
    linked = {**NVIDIA, "links": [[0, 100], [90, 0]]}

    ((_, devices),) = profile(devices=[{**NVIDIA, "count": 1}, linked]).devices

    assert [each.links for each in devices] == [
        (),
        (("template-2", 100),),
        (("template-1", 90),),
    ]


def test_instance_shapes_are_read_in_the_words_of_the_registration() -> None:
    ((_, devices),) = profile(
        devices=[{**NVIDIA, "mode": "mig", "migGeometries": [GEOMETRY]}]
    ).devices

    assert devices[0].mode == "mig"
    assert devices[0].mig_profiles == (
        MigProfile(
            name="1g.5gb", memory_mib=4864, cores=15, slices=1, placements=(MigPlacement(6, 1),)
        ),
    )


def test_of_the_status_the_last_verified_devices_count() -> None:
    status = {"conditions": [], "observedNodes": 3, "lastVerified": {"devices": [NVIDIA]}}

    found = read({**document(), "status": status}).profiles[0]

    assert found.last_verified == found.devices


def test_what_was_verified_of_an_earlier_version_counts_no_more() -> None:
    made = document()
    made["metadata"] |= {"uid": "u", "generation": 2}
    status = {"lastVerified": {"devices": [NVIDIA], "generation": 1}}

    found = read({**made, "status": status}).profiles[0]

    assert found.last_verified == ()


@pytest.mark.parametrize(("about", "said"), [(1, "On n1 count differs."), (0, "")])
def test_a_profile_is_degraded_while_that_is_said_of_it_as_it_is(about: int, said: str) -> None:
    made = document()
    made["metadata"] |= {"uid": "u", "generation": 1}
    condition = {
        "type": "Degraded", "status": "True", "observedGeneration": about, "reason": "Mismatch",
        "message": "On n1 count differs.",
    }  # fmt: skip

    found = read({**made, "status": {"conditions": [condition]}}).profiles[0]

    assert found.degraded == said


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("1h30m", 5400), ("1.5m", 90), ("500ms", 0.5)]
)
def test_durations_are_those_of_kubernetes(text: str, seconds: float) -> None:
    assert profile(registrationTimeout=text).registration_timeout_s == seconds


@pytest.mark.parametrize(
    ("entry", "field", "reason"),
    [
        ({"count": 0}, "count", "0 is not between 1 and 1024"),
        ({"memoryMiB": -1}, "memoryMiB", "-1 is below 0"),
        ({"slots": -1}, "slots", "-1 is below 0"),
        ({"numa": [0, 0, 1]}, "numa", "3 values for 2 devices"),
        ({"numa": [-2]}, "numa", "a NUMA node is below -1"),
        ({"numa": 0}, "numa", "this is a whole number where a list belongs"),
        ({"mode": "mgi"}, "mode", '"mgi" is not one of the choices; did you mean "mig"?'),
        ({"mode": "mig"}, "migGeometries", "mode mig needs at least one instance shape"),
        ({"migGeometries": [GEOMETRY]}, "migGeometries", "belong to mode mig, and mode is"),
        (
            {"mode": "mig", "migGeometries": [{**GEOMETRY, "placements": []}]},
            "migGeometries[0]",
            "correct the shape",
        ),
        ({"links": [[0, 1]]}, "links", "not a table of 2 rows with 2 scores each"),
        ({"vendor": ""}, "vendor", "the vendor is empty"),
        ({"type": ""}, "type", "the type is empty"),
        ({"memory": 1}, "memory", 'there is no such field; did you mean "memoryMiB"?'),
    ],
)
def test_what_cannot_be_is_refused_with_the_field(
    entry: dict[str, Any], field: str, reason: str
) -> None:
    found = fault(devices=[{**NVIDIA, **entry}])

    assert found.field == f"spec.devices[0].{field}"
    assert reason in found.reason


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"devices": []}, "spec.devices"),
        ({"nodeSelector": {}}, "spec.nodeSelector"),
        ({"registrationTimeout": "soon"}, "spec.registrationTimeout"),
        ({"registrationTimeout": "0s"}, "spec.registrationTimeout"),
        ({"onMismatch": "Ignore"}, "spec.onMismatch"),
        ({"homogenity": "Strict"}, "spec.homogenity"),
        ({"devices": [{**NVIDIA, "count": 1000}] * 2}, "spec.devices[1].count"),
    ],
)
def test_a_spec_that_cannot_be_is_refused(spec: dict[str, Any], field: str) -> None:
    assert fault(**spec).field == field


def test_a_profile_without_a_name_is_refused() -> None:
    with pytest.raises(InvalidDocument, match="the name is empty"):
        read(document(""))


def test_an_invalid_profile_in_the_cluster_is_left_out_and_reported() -> None:
    stored = document(devices=[])
    stored["metadata"] = {"name": "a100", "uid": "u", "managedFields": [{}]}

    found = read(stored, document("other"))

    assert [each.name for each in found.profiles] == ["other"]
    assert found.problems[0].field == "spec.devices"


def test_two_profiles_for_one_node_with_other_devices_are_both_left_out() -> None:
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n", "labels": {"pool": "a"}}}
    other = document("other", devices=[{**NVIDIA, "count": 4}])

    found = read(document(), other, node)

    assert found.profiles == ()
    assert [each.object for each in found.problems] == [
        "DeviceProfile/a100",
        "DeviceProfile/other",
    ]


def test_two_profiles_for_one_node_with_the_same_devices_may_stand() -> None:
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n", "labels": {"pool": "a"}}}

    found = read(document(), document("other"), node)

    assert len(found.profiles) == 2
    assert found.problems == ()


def test_a_profile_given_twice_is_refused() -> None:
    with pytest.raises(InvalidDocument, match=r'metadata\.name: "a100" is given twice'):
        read(document(), document())
