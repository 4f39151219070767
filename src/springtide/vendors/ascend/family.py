"""The Ascend family as the engine knows it: the rules of this package under one roof."""

from collections.abc import Hashable, Mapping

import numpy as np
import numpy.typing as npt

from springtide.engine.placement.charges import plain_shares
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
from springtide.engine.placement.screening import Screen
from springtide.engine.placement.wishes import Wish
from springtide.model.device import Allocation, Device, DeviceView, Inventory, Share
from springtide.model.device_columns import DeviceColumns
from springtide.model.node import Node
from springtide.model.pod import Pod, PodSpec
from springtide.model.refusal import Refusal
from springtide.model.resources import AmountList
from springtide.vendors.ascend import codec, filling, fit, preference, quota, vector
from springtide.vendors.ascend.admission import additions_of, admitted
from springtide.vendors.ascend.ask import AscendAsk, annotations_of, ask_of, is_soft
from springtide.vendors.ascend.config import DEFAULT_CONFIG, FAMILY_NAME, AscendConfig
from springtide.vendors.ascend.detail import detail_of
from springtide.vendors.ascend.portion import portion_of
from springtide.vendors.ascend.spelling import spelled
from springtide.vendors.ascend.wishes import wishes_of


class Ascend:
    """Ascend NPUs: whole chips, chips cut by templates, modules of two, and the soft split."""

    def __init__(
        self,
        config: AscendConfig | None = None,
        *,
        node_policy: str = "binpack",
        device_policy: str = "spread",
    ) -> None:
        self.config = DEFAULT_CONFIG if config is None else config
        self._node_policy = node_policy
        self._device_policy = device_policy

    @property
    def name(self) -> str:
        """Return the family's name."""
        return FAMILY_NAME

    def resource_names(self) -> frozenset[str]:
        """Return the resource names that this family manages, as configured."""
        return self.config.names

    def relevant_annotations(self) -> frozenset[str]:
        """Return the pod annotations that change this family's verdicts."""
        return annotations_of(self.config)

    def inventory(self, node: Node) -> Inventory | Refusal | None:
        """Return what the node registers; a Refusal if malformed, None if nothing is registered."""
        return codec.inventory_of(node, self.config)

    def registrations(self) -> tuple[Registration, ...]:
        """Return how nodes register each kind of chip."""
        return codec.registrations_of(self.config)

    def written_annotations(self) -> frozenset[str]:
        """Return the pod annotations that `encode` writes, which nobody else may."""
        return codec.written(self.config)

    def additions(self, pod: Pod) -> Additions:
        """Return what admission adds to a pod whose resources have been filled in."""
        return additions_of(pod, self.config)

    def admit(self, pod: Pod) -> PodSpec | Refusal:
        """Return the pod's spec as it stands after admission (defaults filled in)."""
        return admitted(pod.spec, self.config, is_soft=is_soft(pod))

    def ask(self, pod: Pod) -> AscendAsk | Refusal | None:
        """Return what the pod wants of this family; None if nothing, a Refusal if it makes no sense."""
        return ask_of(
            pod, self.config, node_policy=self._node_policy, device_policy=self._device_policy
        )

    def spell(self, portion: Portion) -> Spelling | Refusal:
        """Return how a pod asks for these chips; a Refusal if no kind of chip is just these."""
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
        """Return None: what pairs and shares of cores leave is told by `evaluate`."""
        _own(ask)
        return None

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
        return preference.scores(_own(ask), columns, rows, loads=loads)

    def place(
        self, ask: Hashable, view: DeviceView, *, ranks: tuple[int, ...] = ()
    ) -> Allocation | Refusal:
        """Return the exact allocation on one node; devices of a lower rank, if any, are tried first."""
        return fit.place(_own(ask), view, ranks=ranks)

    def shares(self, allocation: Allocation, inventory: Inventory) -> tuple[Share, ...]:
        """Return what the ledger charges for this allocation; unknown devices are left out."""
        return plain_shares(allocation, inventory)

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
        """Return nothing: quotas are not looked at when a pod is placed."""
        del ask, columns
        return ()

    def within(self, ask: Hashable, left: Mapping[str, int]) -> AscendAsk:
        """Return the ask as it is, since quotas are not looked at when a pod is placed."""
        del left
        return _own(ask)

    def encode(self, allocation: Allocation, *, at_s: int | None = None) -> dict[str, str]:
        """Return the pod annotations that the device plugin reads, with the time if one is given."""
        annotations = codec.encode(allocation, self.config)
        return annotations if at_s is None else {**annotations, codec.CHOSEN_AT: str(at_s)}

    def decode(self, pod: Pod) -> Allocation | Refusal | None:
        """Return what a running pod holds; a Refusal if unreadable, None if nothing is written."""
        return codec.decode(pod, self.config)

    def detail(self, ask: Hashable, inventory: Inventory, refusal: Refusal) -> str:
        """Return the numbers behind a refusal, such as `12000 MiB asked, 11441 MiB a card`."""
        return detail_of(_own(ask), inventory, refusal)


def _own(ask: Hashable) -> AscendAsk:
    assert isinstance(ask, AscendAsk)
    return ask
