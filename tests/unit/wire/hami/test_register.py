"""The JSON registration of a node's devices, and the pair scores beside it."""

import json

import pytest

from springtide.model.device import Device, MigPlacement, MigProfile
from springtide.wire.hami import Malformed, links, register

SLICE = MigProfile(
    name="1g.5gb",
    memory_mib=4864,
    cores=15,
    slices=1,
    placements=(MigPlacement(start=6, size=1),),
)


def test_two_cards_read_as_registered() -> None:
    text = (
        '[{"id":"GPU-0fc3eda5","count":10,"devmem":40960,"devcore":100,'
        '"type":"NVIDIA A100-SXM4-40GB","mode":"hami-core","health":true},'
        '{"id":"GPU-8dcd427f","index":1,"count":10,"devmem":40960,"devcore":100,'
        '"type":"NVIDIA A100-SXM4-40GB","numa":1,"mode":"hami-core","health":true}]'
    )

    first, second = register.decode(text)

    assert (first.id, first.index, first.numa, first.slots) == ("GPU-0fc3eda5", 0, 0, 10)
    assert (second.index, second.numa, second.memory_mib, second.cores) == (1, 1, 40960, 100)
    assert first.type == "NVIDIA A100-SXM4-40GB"
    assert first.is_healthy


def test_t06_missing_and_null_fields_are_zero_and_a_missing_health_means_unhealthy() -> None:
    devices = register.decode('[{"id":"a","health":true,"numa":null},{"id":"b","index":1}]')

    assert devices == (Device(id="a", is_healthy=True), Device(id="b", index=1))


@pytest.mark.parametrize(
    ("custom", "network"),
    [("{}", None), ('{"NetworkID":2}', 2), ('{"NetworkID":2.0}', 2), ('{"NetworkID":2.5}', None),
     ('{"NetworkID":"2"}', None), ('{"NetworkID":true}', None), ("null", None)],
)  # fmt: skip
def test_a_network_is_a_whole_number_or_unknown(custom: str, network: int | None) -> None:
    (device,) = register.decode(f'[{{"id":"a","custominfo":{custom}}}]')

    assert device == Device(id="a", network=network)


def test_a_network_is_written_as_it_is_read() -> None:
    devices = (Device(id="a", network=0), Device(id="b", index=1, network=1))

    assert register.decode(register.encode(devices)) == devices


def test_keys_match_in_any_case_and_unknown_ones_are_ignored() -> None:
    (device,) = register.decode('[{"ID":"a","Count":3,"DevMem":7,"unknown":{"a":1}}] \n')

    assert (device.id, device.slots, device.memory_mib) == ("a", 3, 7)


@pytest.mark.parametrize("text", ["[]", "null"])
def test_an_empty_registration_has_no_devices(text: str) -> None:
    assert register.decode(text) == ()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "not a JSON document"),
        ("[", "not a JSON document"),
        ('[{"id":"a"}]x', "not a JSON document"),
        ('{"id":"a"}', "the document is an object, not a list"),
        ("[null]", "[0] is null, not an object"),
        ('[{"id":"a"},null]', "[1] is null, not an object"),
        ('[{"id":"a"},{"devmem":"32768"}]', '[1].devmem is the text "32768", not a whole number'),
        ('[{"devmem":24564.5}]', "[0].devmem is the number 24564.5, not a whole number"),
        ('[{"count":1e3}]', "[0].count is the number 1000.0, not a whole number"),
        ('[{"count":3000000000}]', "[0].count is 3000000000, outside -2147483648 to 2147483647"),
        ('[{"index":-1}]', "[0].index is -1, outside 0"),
        ('[{"health":1}]', "[0].health is the number 1, not a boolean"),
        ('[{"health":"true"}]', '[0].health is the text "true", not a boolean'),
        ('[{"devcore":true}]', "[0].devcore is true, not a whole number"),
        ('[{"id":7}]', "[0].id is the number 7, not a text"),
        ('[{"migProfiles":{}}]', "[0].migProfiles is an object, not a list"),
        ('[{"migProfiles":[null]}]', "[0].migProfiles[0] is null, not an object"),
        ('[{"migtemplate":"x"}]', '[0].migtemplate is the text "x", not a list'),
        ('[{"custominfo":[]}]', "[0].custominfo is a list, not an object"),
    ],
)
def test_a_fault_names_the_position_and_the_field(text: str, part: str) -> None:
    with pytest.raises(Malformed) as raised:
        register.decode(text)

    assert str(raised.value).startswith(part)


def test_t07_t09_writing_leaves_zero_values_out_and_keeps_profiles() -> None:
    (device,) = register.decode(
        '[{"id":"a","count":7,"custominfo":{"x":1},"mode":"mig","health":true,"migProfiles":'
        '[{"name":"1g.5gb","memoryMB":4864,"core":15,"sliceCount":1,'
        '"placements":[{"start":6,"size":1}]}]}]'
    )

    text = register.encode([device])

    assert device.mig_profiles == (SLICE,)
    assert json.loads(text) == [
        {
            "id": "a",
            "count": 7,
            "mode": "mig",
            "migProfiles": [
                {
                    "name": "1g.5gb",
                    "memoryMB": 4864,
                    "core": 15,
                    "sliceCount": 1,
                    "placements": [{"start": 6, "size": 1}],
                }
            ],
            "health": True,
        }
    ]
    assert register.decode(text) == (device,)


def test_t08_pair_scores_read_by_card() -> None:
    scores = links.decode('[{"uuid":"GPU-0","score":{"GPU-1":50,"GPU-2":20,"GPU-3":20}}]')

    assert scores == (("GPU-0", (("GPU-1", 50), ("GPU-2", 20), ("GPU-3", 20))),)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('[{"uuid":"a","score":{"b":1.5}}]', "[0].score.b is the number 1.5"),
        ('[{"uuid":"a","score":[]}]', "[0].score is a list, not an object"),
        ("[null]", "[0] is null"),
        ("{", "not a JSON document"),
    ],
)
def test_broken_pair_scores_are_malformed(text: str, part: str) -> None:
    with pytest.raises(Malformed) as raised:
        links.decode(text)

    assert str(raised.value).startswith(part)


def test_absent_scores_are_none() -> None:
    assert links.decode("null") == ()
    assert links.decode('[{"uuid":"a"},{"uuid":"b","score":{"a":null}}]') == (
        ("a", ()),
        ("b", (("a", 0),)),
    )
