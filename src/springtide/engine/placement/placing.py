"""Where one pod of a class goes, and what it holds there."""

import msgspec

from springtide.engine.placement.classes import PodClass
from springtide.model.device import Allocation, Share
from springtide.model.ledger import Holding
from springtide.model.resource_claims import HeldClaim
from springtide.model.resources import AmountList


class Placement(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where one pod of a class goes: the row, and what it and its claims get of devices.

    `charges` is what it counts for against its namespace's quota, if there is one.
    """

    row: int
    allocations: tuple[Allocation, ...] = ()
    shares: tuple[tuple[str, tuple[Share, ...]], ...] = ()
    device_claims: tuple[HeldClaim, ...] = ()
    charges: AmountList = ()


def holding(uid: str, pod_class: PodClass, placement: Placement) -> Holding:
    """Return what a pod of this class holds once it is placed."""
    return Holding(
        uid=uid,
        row=placement.row,
        amounts=pod_class.amounts,
        ports=pod_class.ports,
        shares=placement.shares,
        claims=pod_class.claims,
        disks=pod_class.disks,
        presence=pod_class.presence,
        device_claims=placement.device_claims,
        unstated=pod_class.unstated,
        namespace=pod_class.quota,
        charges=placement.charges,
    )
