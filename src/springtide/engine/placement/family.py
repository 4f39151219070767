"""The protocol of a device family: all that the engine knows about one kind of accelerator.

A family is pure. Its vector verdicts and its exact placement agree: a row that `evaluate` refuses
is refused by `place` for the same counted reasons; a row that `evaluate` lets pass with
`is_exact` is placed by `place`; other passing rows are an upper bound and only `place` decides.
"""

from collections.abc import Hashable, Mapping
from typing import Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from springtide.engine.placement.screening import Screen
from springtide.engine.placement.wishes import Wish
from springtide.model.device import Allocation, Device, DeviceView, Inventory, Share
from springtide.model.device_columns import DeviceColumns
from springtide.model.node import Node
from springtide.model.pod import Pod, PodSpec
from springtide.model.refusal import Refusal
from springtide.model.resources import AmountList, Resources

Rows = npt.NDArray[np.intp]
ACCEPTED, ABSENT = 0, 255


class Verdicts(msgspec.Struct, frozen=True):
    """One family's answer for one ask over n rows with d device cells.

    `fits` [n] is final where False. `is_exact` [n] says that the verdict and `codes` are exactly
    what `place` would say; elsewhere `fits` is an upper bound. `codes` [n, d] holds per device the
    first check that refuses it (the family's own numbers): `ACCEPTED` (0) where none does,
    `ABSENT` (255) where there is no candidate device.
    """

    fits: npt.NDArray[np.bool_]
    is_exact: npt.NDArray[np.bool_]
    codes: npt.NDArray[np.uint8]


class Filling(msgspec.Struct, frozen=True, kw_only=True):
    """How many equal pods n rows take, one after the other, until their devices refuse one.

    `counts` [n] is exact where `is_known` [n]; elsewhere only placing one by one can tell. `after`
    are the columns as they are once these pods are placed; those that were given are unchanged.
    """

    counts: npt.NDArray[np.int64]
    is_known: npt.NDArray[np.bool_]
    after: DeviceColumns


class Portion(msgspec.Struct, frozen=True, kw_only=True):
    """So much of so many devices, as people think of it; every family writes it in its own words.

    `memory_mib` and `cores` are of each device, 0 leaves them to the family's defaults: as a rule, the
    whole device. `types` are the names of the types that would do, and `other_types` those of all others that
    are registered; empty, any type would do.
    """

    count: int = 1
    memory_mib: int = 0
    cores: int = 0
    types: tuple[str, ...] = ()
    other_types: tuple[str, ...] = ()


class Spelling(msgspec.Struct, frozen=True):
    """A portion as a pod states it: what a container requests, and the pod's annotations."""

    requests: Resources
    annotations: tuple[tuple[str, str], ...] = ()


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """How the nodes of one kind of device tell what they have, and that somebody looks after it.

    `annotations` are what the device plugin registers in, the first of them the devices, `handshake`
    is what scheduler and plugin overwrite in turn, and `count` the resource that the kubelet counts.
    A plugin that `is_counted` never answers a handshake: it is there as long as the kubelet counts devices.
    """

    word: str
    annotations: tuple[str, ...]
    handshake: str
    count: str
    is_counted: bool = False


class Additions(msgspec.Struct, frozen=True, kw_only=True):
    """What admission adds to a pod beyond resources: variables by container, and a runtime class.

    `is_taken` says that the family's scheduler takes the pod over, if only with a count of zero.
    """

    is_taken: bool = False
    environment: tuple[tuple[str, str, str], ...] = ()
    runtime_class: str = ""


class Ask(Protocol):
    """What one pod wants of one family. Hashable: equal asks get equal answers."""

    @property
    def family(self) -> str:
        """Return the name of the family that understands this ask."""
        ...

    @property
    def node_policy(self) -> str:
        """Return the policy by which nodes are preferred."""
        ...

    @property
    def device_policy(self) -> str:
        """Return the policies by which devices of a node are preferred, separated by commas."""
        ...

    @property
    def names_devices(self) -> bool:
        """Return whether the ask requires devices by id, which no future node can have."""
        ...

    @property
    def reads_ids(self) -> bool:
        """Return whether devices that are equal but for their ids may be answered differently."""
        ...

    def __hash__(self) -> int:
        """Return a hash that equal asks share."""
        ...


class DeviceFamily(Protocol):
    """What the engine must know about one kind of accelerator."""

    @property
    def name(self) -> str:
        """Return the family's name (HAMi's common word)."""
        ...

    def resource_names(self) -> frozenset[str]:
        """Return the resource names that this family manages, as configured."""
        ...

    def relevant_annotations(self) -> frozenset[str]:
        """Return the pod annotations that change this family's verdicts."""
        ...

    def inventory(self, node: Node) -> Inventory | Refusal | None:
        """Return what the node registers; a Refusal if malformed, None if nothing is registered."""
        ...

    def registrations(self) -> tuple[Registration, ...]:
        """Return how nodes register each kind of device of this family."""
        ...

    def written_annotations(self) -> frozenset[str]:
        """Return the pod annotations that `encode` writes, which nobody else may."""
        ...

    def additions(self, pod: Pod) -> Additions:
        """Return what admission adds to a pod whose resources have been filled in."""
        ...

    def admit(self, pod: Pod) -> PodSpec | Refusal:
        """Return the pod's spec as it stands after admission (defaults filled in)."""
        ...

    def ask(self, pod: Pod) -> Ask | Refusal | None:
        """Return what the pod wants of this family; None if nothing, a Refusal if it makes no sense."""
        ...

    def spell(self, portion: Portion) -> Spelling | Refusal:
        """Return how a pod asks for this portion; a Refusal if this family cannot give them."""
        ...

    def portion(self, ask: Hashable, device: Device) -> Portion | None:
        """Return what the ask takes of each device like this one; None if it takes none like it.

        All containers that run together count as one that takes of each device the most that any does.
        """
        ...

    def wishes(self, pod: Pod) -> tuple[Wish, ...]:
        """Return what the pod asks of this family as amounts that could be lowered one by one."""
        ...

    def fill(self, ask: Hashable, columns: DeviceColumns, rows: Rows) -> Filling:
        """Return how many such pods these rows take until they refuse one, vectorised."""
        ...

    def evaluate(self, ask: Hashable, columns: DeviceColumns, rows: Rows) -> Verdicts:
        """Return the verdicts over these rows, vectorised."""
        ...

    def screen(self, ask: Hashable) -> Screen | None:
        """Return what tells which rows fit as `evaluate` does, but quickly; None if nothing does."""
        ...

    def refusal(self, ask: Hashable, codes: npt.NDArray[np.uint8]) -> Refusal:
        """Return the refusal that one row's codes [d] amount to."""
        ...

    def scores(
        self,
        ask: Hashable,
        columns: DeviceColumns,
        rows: Rows,
        *,
        loads: npt.NDArray[np.float32],
    ) -> npt.NDArray[np.float32]:
        """Return each row's node score; the highest is preferred under the ask's node policy.

        `loads` are how loaded the nodes are, by the family's own devices or by more than them.
        """
        ...

    def place(
        self, ask: Hashable, view: DeviceView, *, ranks: tuple[int, ...] = ()
    ) -> Allocation | Refusal:
        """Return the exact allocation on one node; devices of a lower rank, if any, are tried first."""
        ...

    def shares(self, allocation: Allocation, inventory: Inventory) -> tuple[Share, ...]:
        """Return what the ledger charges for this allocation; unknown devices are left out."""
        ...

    def quota_factors(self) -> Mapping[str, int]:
        """Return the resources that a namespace's quota may limit, with what limits are multiplied by."""
        ...

    def charges(self, allocation: Allocation) -> AmountList:
        """Return what an allocation counts for against a quota, by resource."""
        ...

    def stated(self, pod: Pod) -> AmountList:
        """Return what admission holds against a quota: amounts that the pod states outright."""
        ...

    def most(self, ask: Hashable, columns: DeviceColumns) -> AmountList:
        """Return the most that such a pod could take of any of these devices.

        Empty if quotas are not looked at when a pod is placed.
        """
        ...

    def within(self, ask: Hashable, left: Mapping[str, int]) -> Ask:
        """Return the ask as it is where no more than this is left of some resources."""
        ...

    def encode(self, allocation: Allocation, *, at_s: int | None = None) -> dict[str, str]:
        """Return the pod annotations that the device plugin reads, some with the time if one is given."""
        ...

    def decode(self, pod: Pod) -> Allocation | Refusal | None:
        """Return what a running pod holds; a Refusal if unreadable, None if nothing is written."""
        ...

    def detail(self, ask: Hashable, inventory: Inventory, refusal: Refusal) -> str:
        """Return the numbers behind a refusal, such as `12000 MiB asked, 11441 MiB a card`."""
        ...
