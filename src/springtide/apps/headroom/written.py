"""Asks that no pod states: as people write them on the command line, and those of the ladder."""

from collections.abc import Mapping
from typing import Final

import msgspec

from springtide.apps.headroom import words
from springtide.apps.headroom.asks import Asked
from springtide.apps.headroom.report import Source
from springtide.base.errors import SpringtideError
from springtide.base.names import CPU, EPHEMERAL_STORAGE, MEMORY, NATIVE_NAMES
from springtide.base.nearest import nearest
from springtide.base.quantity import MalformedQuantity, Quantity, parse
from springtide.base.taints import REPELLING_EFFECTS, Toleration
from springtide.engine.placement.admission import admitted
from springtide.engine.placement.family import DeviceFamily, Portion
from springtide.model.ledger import Ledger
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.refusal import Refusal

TYPE: Final = "type"
_NAMESPACE: Final = "default"


class InvalidAsk(SpringtideError):
    """An ask on the command line that says nothing, or nothing that exists."""


class Making(msgspec.Struct, frozen=True, kw_only=True):
    """What asks are made with that no pod states: families, tolerations, whose scheduler."""

    families: Mapping[str, DeviceFamily]
    types: Mapping[str, tuple[str, ...]]
    tolerations: tuple[Toleration, ...]
    scheduler: str


def of_text(text: str, making: Making) -> Asked:
    """Return the ask that a person writes as `gpu=1,gpumem=16384,cpu=4,memory=16Gi,type=A100`."""
    amounts: dict[str, Quantity] = {}
    annotations: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        word, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or not value:
            raise InvalidAsk(f"--ask {text}: {part!r} is no NAME=AMOUNT, such as cpu=4.")
        if word == TYPE:
            annotations.update(_type(value, text, making))
        else:
            amounts[_resource(word, text, making)] = _amount(value, part, text)
    if not amounts:
        raise InvalidAsk(f"--ask {text!r} asks for nothing; write for example cpu=4,memory=16Gi.")
    return made(text, "Given", text.replace(",", " "), amounts, making, annotations=annotations)


def made(
    name: str,
    source: Source,
    text: str,
    amounts: Mapping[str, Quantity],
    making: Making,
    *,
    annotations: Mapping[str, str],
) -> Asked:
    """Return the ask of a pod with one container, as admission would store it."""
    requests = tuple(sorted(amounts.items()))
    limits = tuple(pair for pair in requests if pair[0] not in NATIVE_NAMES)
    pod = Pod(
        namespace=_NAMESPACE,
        name=words.slug(name),
        uid=f"ask {name}",
        spec=PodSpec(
            containers=(Container(name="main", requests=requests, limits=limits),),
            tolerations=making.tolerations,
            scheduler_name=making.scheduler,
        ),
        annotations=annotations,
    )
    answer = admitted(pod, making.families)
    if isinstance(answer, Refusal):
        return Asked(name=name, source=source, text=text, pod=pod, denied=answer.text)
    return Asked(name=name, source=source, text=text, pod=answer, is_nobodys=True)


def tolerations(ledger: Ledger) -> tuple[Toleration, ...]:
    """Return what an ask tolerates that states nothing: what keeps others off nodes with devices.

    Marks of Kubernetes itself, such as those of nodes that are not ready, are not tolerated.
    """
    rows = {
        row
        for columns in ledger.devices.values()
        for row in range(ledger.count)
        if columns.inventory[row] >= 0
    }
    sets = {int(ledger.taintset[row]) for row in rows}
    taints = {taint for code in sets for taint in ledger.taintsets.values[code]}
    return tuple(
        Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)
        for taint in sorted(taints, key=lambda taint: (taint.key, taint.value, taint.effect))
        if taint.effect in REPELLING_EFFECTS and "kubernetes.io/" not in taint.key
    )


def _resource(word: str, text: str, making: Making) -> str:
    if word in NATIVE_NAMES or "/" in word or word.startswith("hugepages-"):
        return word
    known = sorted(name for each in making.families.values() for name in each.resource_names())
    found = [name for name in known if words.short(name) == word]
    if len(found) == 1:
        return found[0]
    if found:
        raise InvalidAsk(f"--ask {text}: {word} may be {' or '.join(found)}; write which.")
    choice = [CPU, MEMORY, EPHEMERAL_STORAGE, TYPE, *map(words.short, known)]
    close = nearest(word, choice)
    offer = f" Did you mean {close}?" if close else f" There are {', '.join(choice)}."
    raise InvalidAsk(f"--ask {text}: there is no resource {word}.{offer}")


def _amount(value: str, part: str, text: str) -> Quantity:
    try:
        amount = parse(value)
    except MalformedQuantity as fault:
        raise InvalidAsk(f"--ask {text}: {part}: {fault}") from fault
    if amount.nano < 0:
        raise InvalidAsk(f"--ask {text}: {part} is negative; write an amount.")
    return amount


def _type(value: str, text: str, making: Making) -> dict[str, str]:
    """Return the annotations that keep a pod to devices whose type contains this word."""
    for family, types in making.types.items():
        mine = tuple(name for name in types if value.lower() in name.lower())
        if mine:
            others = tuple(name for name in types if name not in mine)
            portion = Portion(types=mine, other_types=others)
            spelling = making.families[family].spell(portion)
            if isinstance(spelling, Refusal):
                raise InvalidAsk(f"--ask {text}: {spelling.text}.")
            return dict(spelling.annotations)
    known = sorted(name for types in making.types.values() for name in types)
    there = f"there are {', '.join(known)}" if known else "the input has no devices"
    raise InvalidAsk(f"--ask {text}: no device has a type with {value!r}; {there}.")
