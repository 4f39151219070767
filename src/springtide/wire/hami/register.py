"""The devices of a node as JSON: `[{"id":"GPU-a","count":10,"devmem":24576,...}]`.

Writers leave out every field that is zero or false, so a missing `health` means unhealthy and a
missing `index` 0. Reading is all or nothing: one element that cannot be read makes the whole
registration malformed, because half an inventory looks like a smaller node.
"""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from springtide.model.device import Device, MigPlacement, MigProfile
from springtide.wire.hami.document import Fields, elements, parse
from springtide.wire.hami.numbers import INT32_MAX

_ID: Final = '"id":"'


def decode(text: str) -> tuple[Device, ...]:
    """Return the registered devices in order, or raise Malformed; `null` registers none."""
    plain = _plain(text)
    if plain is not None:
        return plain
    document = parse(text)
    if document is None:
        return ()
    return tuple(_device(fields) for fields in elements(document, ""))


def encode(devices: Sequence[Device]) -> str:
    """Return the registration of these devices, zero values left out as the plugins do."""
    return msgspec.json.encode([_encoded(device) for device in devices]).decode()


def parted(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a registration without the ids in it, and the ids in order.

    Registrations that are equal without them are read alike but for the ids, as long as those are
    distinct; whether they are those of the devices, reading one of them tells.
    """
    first, *others = text.split(_ID)
    ids: list[str] = []
    rest = [first]
    for each in others:
        device_id, _, after = each.partition('"')
        ids.append(device_id)
        rest.append(after)
    if "\\" in text or not "".join(ids).isprintable():
        # Quotes may be part of a text here, and what is no JSON at all must not pass.
        return (text,), ()
    return tuple(rest), tuple(ids)


def _plain(text: str) -> tuple[Device, ...] | None:
    """Return the devices if the text is as the plugins write it today; None leaves it to `parse`.

    A key in another case, a `null` or a value of another type is none of that.
    """
    try:
        return tuple(
            [
                Device(
                    id=item.id,
                    index=item.index,
                    slots=item.count,
                    memory_mib=item.devmem,
                    cores=item.devcore,
                    type=item.type,
                    numa=item.numa,
                    mode=item.mode,
                    is_healthy=item.health,
                )
                for item in _PLAIN.decode(text)
            ]
        )
    except msgspec.DecodeError:
        return None


Int32 = Annotated[int, msgspec.Meta(ge=-INT32_MAX - 1, le=INT32_MAX)]


class _Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One device without MIG profiles, in the keys and types of HAMi's own plugin."""

    id: str = ""
    index: Annotated[int, msgspec.Meta(ge=0, le=INT32_MAX)] = 0
    count: Int32 = 0
    devmem: Int32 = 0
    devcore: Int32 = 0
    type: str = ""
    numa: Int32 = 0
    mode: str = ""
    health: bool = False


_PLAIN: Final = msgspec.json.Decoder(list[_Written])


def _device(fields: Fields) -> Device:
    # It is not used, but a wrong type makes HAMi refuse the whole registration.
    fields.require_list("migtemplate")
    return Device(
        id=fields.text("id"),
        index=fields.unsigned("index"),
        slots=fields.int32("count"),
        memory_mib=fields.int32("devmem"),
        cores=fields.int32("devcore"),
        type=fields.text("type"),
        numa=fields.integer("numa"),
        mode=fields.text("mode"),
        is_healthy=fields.flag("health"),
        mig_profiles=tuple(_profile(item) for item in fields.elements("migProfiles")),
        network=fields.nested("custominfo").whole_or_none("NetworkID"),
    )


def _profile(fields: Fields) -> MigProfile:
    return MigProfile(
        name=fields.text("name"),
        memory_mib=fields.int32("memoryMB"),
        cores=fields.int32("core"),
        slices=fields.int32("sliceCount"),
        placements=tuple(placement(item) for item in fields.elements("placements")),
    )


def placement(fields: Fields) -> MigPlacement:
    """Return a placement from its object."""
    return MigPlacement(start=fields.int32("start"), size=fields.int32("size"))


def _encoded(device: Device) -> dict[str, object]:
    values: dict[str, object] = {
        "id": device.id,
        "index": device.index,
        "count": device.slots,
        "devmem": device.memory_mib,
        "devcore": device.cores,
        "type": device.type,
        "numa": device.numa,
        "mode": device.mode,
        "migProfiles": [_encoded_profile(profile) for profile in device.mig_profiles],
        "health": device.is_healthy,
        "custominfo": {} if device.network is None else {"NetworkID": device.network},
    }
    return {key: value for key, value in values.items() if value}


def _encoded_profile(profile: MigProfile) -> dict[str, object]:
    return {
        "name": profile.name,
        "memoryMB": profile.memory_mib,
        "core": profile.cores,
        "sliceCount": profile.slices,
        "placements": [{"start": place.start, "size": place.size} for place in profile.placements],
    }
