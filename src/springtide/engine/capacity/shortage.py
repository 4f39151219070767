"""The numbers behind a shortage of plain resources: what was asked, and what a new node has free."""

from collections.abc import Mapping

from springtide.base.names import CPU
from springtide.base.quantity import Format, Quantity
from springtide.engine.placement.classes import PodClass
from springtide.model.refusal import Refusal

_SHORT = "Insufficient "
_BYTES = ("memory", "ephemeral-storage", "hugepages-")


def shortage(refusal: Refusal, pod_class: PodClass, free: Mapping[str, int]) -> str:
    """Return what was asked and what is free of every resource that the refusal calls short."""
    asked = dict(pod_class.amounts)
    short = [reason.removeprefix(_SHORT) for reason in refusal.reasons if reason.startswith(_SHORT)]
    return ", ".join(
        f"{shown(name, asked.get(name, 0))} {name} asked, {shown(name, free.get(name, 0))} free"
        for name in short
    )


def shown(name: str, amount: int) -> str:
    """Return an amount in scheduler units as people write the quantity."""
    nano = amount * 10**6 if name == CPU else amount * 10**9
    form = Format.BINARY_SI if is_bytes(name) else Format.DECIMAL_SI
    return Quantity(nano=nano, format=form).canonical()


def is_bytes(name: str) -> bool:
    """Return whether a resource is counted in bytes."""
    return name.startswith(_BYTES)
