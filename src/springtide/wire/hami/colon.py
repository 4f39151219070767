"""The devices of a node in the older form: `id,count,memory,cores,type,numa,health[,index,mode]:`.

Seven fields or nine; writers of seven knew neither an index nor a mode. Writing always gives nine.
"""

from collections.abc import Sequence

from springtide.model.device import Device
from springtide.wire.hami.errors import Malformed
from springtide.wire.hami.numbers import quoted, read_bool, read_int, read_int32

_SHORT, _LONG = 7, 9
_DEFAULT_MODE = "hami-core"


def decode(text: str) -> tuple[Device, ...]:
    """Return the registered devices in order, or raise Malformed."""
    if ":" not in text:
        raise Malformed("node annotation missing device separator")
    return tuple(_device(piece) for piece in text.split(":") if piece)


def encode(devices: Sequence[Device]) -> str:
    """Return the registration of these devices."""
    return "".join(_encoded(device) for device in devices)


def _device(piece: str) -> Device:
    if "," not in piece:
        raise Malformed(f"malformed node annotation segment: {quoted(piece)}")
    fields = piece.split(",")
    if len(fields) not in {_SHORT, _LONG}:
        raise Malformed(f"unexpected field count {len(fields)} in node annotation")
    slots = read_int32(fields[1], "count")
    memory_mib = read_int32(fields[2], "memory")
    cores = read_int32(fields[3], "core")
    is_healthy = read_bool(fields[6], "health")
    numa = read_int(fields[5], "numa")
    index, mode = _position(fields[_SHORT:])
    return Device(
        id=fields[0],
        index=index,
        slots=slots,
        memory_mib=memory_mib,
        cores=cores,
        type=fields[4],
        numa=numa,
        mode=mode,
        is_healthy=is_healthy,
    )


def _position(fields: list[str]) -> tuple[int, str]:
    if not fields:
        return 0, _DEFAULT_MODE
    index = read_int(fields[0], "index")
    if index < 0:
        raise Malformed(f"index field must not be negative: {index}")
    return index, fields[1]


def _encoded(device: Device) -> str:
    health = "true" if device.is_healthy else "false"
    fields = (
        device.id, device.slots, device.memory_mib, device.cores, device.type, device.numa,
        health, device.index, device.mode,
    )  # fmt: skip
    return ",".join(map(str, fields)) + ":"
