"""The NVIDIA family as the engine knows it: the rules of this package under one roof."""

from collections.abc import Hashable, Mapping

import numpy as np
import numpy.typing as npt

from springtide.engine.placement.checks import refusal_of_codes
from springtide.engine.placement.family import (
    Additions,
    Filling,
    Portion,
    Registration,
    Rows,
    Spelling,
    Verdicts,
)
from springtide.engine.placement.order import SPREAD
from springtide.engine.placement.screening import Screen
from springtide.engine.placement.wishes import Wish
from springtide.model.device import Allocation, Device, DeviceView, Inventory, Share
from springtide.model.device_columns import DeviceColumns
from springtide.model.node import Node
from springtide.model.pod import Pod, PodSpec
from springtide.model.refusal import Refusal
from springtide.model.resources import AmountList
from springtide.vendors.nvidia import codec, filling, fit, quota, screening, vector
from springtide.vendors.nvidia.admission import additions_of, admitted
from springtide.vendors.nvidia.ask import ANNOTATIONS, NvidiaAsk, ask_of
from springtide.vendors.nvidia.config import FAMILY_NAME, NvidiaConfig
from springtide.vendors.nvidia.detail import detail_of
from springtide.vendors.nvidia.portion import portion_of
from springtide.vendors.nvidia.spelling import spelled
from springtide.vendors.nvidia.usage import shares_of
from springtide.vendors.nvidia.wishes import wishes_of


class Nvidia:
    """NVIDIA cards, shared by memory, cores and slots or cut into MIG instances."""

    def __init__(
        self,
        config: NvidiaConfig | None = None,
        *,
        node_policy: str = "binpack",
        device_policy: str = "spread",
        is_strict: bool = False,
    ) -> None:
        """Set the family up; strictly, cards are chosen with HAMi's peculiarities."""
        self.config = NvidiaConfig() if config is None else config
        self._node_policy = node_policy
        self._device_policy = device_policy
        self._is_strict = is_strict

    @property
    def name(self) -> str:
        """Return the family's name."""
        return FAMILY_NAME

    def resource_names(self) -> frozenset[str]:
        """Return the resource names that this family manages, as configured."""
        return self.config.names

    def relevant_annotations(self) -> frozenset[str]:
        """Return the pod annotations that change this family's verdicts."""
        return ANNOTATIONS

    def inventory(self, node: Node) -> Inventory | Refusal | None:
        """Return what the node registers; a Refusal if malformed, None if nothing is registered."""
        return codec.inventory_of(node)

    def registrations(self) -> tuple[Registration, ...]:
        """Return how nodes register their cards; their plugin never answers the handshake."""
        return (
            Registration(
                word=FAMILY_NAME,
                annotations=(codec.REGISTER, codec.PAIR_SCORES, codec.DEVICE_CORDON),
                handshake=codec.HANDSHAKE,
                count=self.config.count_name,
                is_counted=True,
            ),
        )

    def written_annotations(self) -> frozenset[str]:
        """Return the pod annotations that `encode` writes, which nobody else may."""
        return codec.WRITTEN

    def additions(self, pod: Pod) -> Additions:
        """Return what admission adds to a pod whose resources have been filled in."""
        return additions_of(pod, self.config)

    def admit(self, pod: Pod) -> PodSpec | Refusal:
        """Return the pod's spec as it stands after admission (defaults filled in)."""
        return admitted(pod.spec, self.config)

    def ask(self, pod: Pod) -> NvidiaAsk | Refusal | None:
        """Return what the pod wants of this family; None if nothing, a Refusal if it makes no sense."""
        return ask_of(
            pod,
            self.config,
            node_policy=self._node_policy,
            device_policy=self._device_policy,
            is_strict=self._is_strict,
        )

    def spell(self, portion: Portion) -> Spelling | Refusal:
        """Return how a pod asks for these cards; a Refusal if the configuration has no name for it."""
        return spelled(portion, self.config)

    def portion(self, ask: Hashable, device: Device) -> Portion | None:
        """Return what the ask takes of each device like this one; None if it takes none like it."""
        return portion_of(_own(ask), device)

    def wishes(self, pod: Pod) -> tuple[Wish, ...]:
        """Return what the pod asks of this family as amounts that could be lowered one by one."""
        return wishes_of(pod, self.config)

    def fill(self, ask: Hashable, columns: DeviceColumns, rows: Rows) -> Filling:
        """Return how many such pods these rows take until they refuse one, vectorised."""
        return filling.fill(_own(ask), columns, rows)

    def evaluate(self, ask: Hashable, columns: DeviceColumns, rows: Rows) -> Verdicts:
        """Return the verdicts over these rows, vectorised."""
        return vector.evaluate(_own(ask), columns, rows)

    def screen(self, ask: Hashable) -> Screen | None:
        """Return what tells quickly which rows fit, None if only `evaluate` can."""
        return screening.screen(_own(ask))

    def refusal(self, ask: Hashable, codes: npt.NDArray[np.uint8]) -> Refusal:
        """Return the refusal that one row's codes amount to."""
        _own(ask)
        return refusal_of_codes(FAMILY_NAME, codes)

    def scores(
        self,
        ask: Hashable,
        columns: DeviceColumns,
        rows: Rows,
        *,
        loads: npt.NDArray[np.float32],
    ) -> npt.NDArray[np.float32]:
        """Return each row's node score; the highest is preferred under the ask's node policy."""
        return -loads if _own(ask).node_policy == SPREAD else loads

    def place(
        self, ask: Hashable, view: DeviceView, *, ranks: tuple[int, ...] = ()
    ) -> Allocation | Refusal:
        """Return the exact allocation on one node; devices of a lower rank, if any, are tried first."""
        return fit.place(_own(ask), view, ranks=ranks)

    def shares(self, allocation: Allocation, inventory: Inventory) -> tuple[Share, ...]:
        """Return what the ledger charges for this allocation; unknown devices are left out."""
        return shares_of(allocation, inventory)

    def quota_factors(self) -> Mapping[str, int]:
        """Return the resources that a namespace's quota may limit, with what limits are multiplied by."""
        return quota.factors_of(self.config)

    def charges(self, allocation: Allocation) -> AmountList:
        """Return what an allocation counts for against a quota, by resource."""
        return quota.charges_of(allocation, self.config)

    def stated(self, pod: Pod) -> AmountList:
        """Return what admission holds against a quota: amounts that the pod states outright."""
        return quota.stated_by(pod, self.config)

    def most(self, ask: Hashable, columns: DeviceColumns) -> AmountList:
        """Return the most that such a pod could take of any of these cards."""
        return quota.most_of(_own(ask), columns, config=self.config)

    def within(self, ask: Hashable, left: Mapping[str, int]) -> NvidiaAsk:
        """Return the ask as it is where no more than this is left of some resources."""
        return quota.within(_own(ask), left, config=self.config)

    def encode(self, allocation: Allocation, *, at_s: int | None = None) -> dict[str, str]:
        """Return the pod annotations that the device plugin reads; the time is none of them."""
        del at_s
        return codec.encode(allocation)

    def decode(self, pod: Pod) -> Allocation | Refusal | None:
        """Return what a running pod holds; a Refusal if unreadable, None if nothing is written."""
        return codec.decode(pod, self.config)

    def detail(self, ask: Hashable, inventory: Inventory, refusal: Refusal) -> str:
        """Return the numbers behind a refusal, such as `12000 MiB asked, 11441 MiB a card`."""
        return detail_of(_own(ask), inventory, refusal)


def _own(ask: Hashable) -> NvidiaAsk:
    assert isinstance(ask, NvidiaAsk)
    return ask
