"""What devices say to a pod, exactly: the fit functions of the live scheduler on devices given as records.

One answer serves every way of simulating, so that a call without state, a session and the live path agree.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from springtide.engine.framework.framework import Framework, FrameworkConfig
from springtide.engine.placement.classes import PodClass
from springtide.engine.placement.device_classes import Classes
from springtide.engine.placement.exact import ExactFit
from springtide.engine.placement.family import Ask, DeviceFamily
from springtide.engine.placement.grounds import Grounds
from springtide.engine.placement.policy import Policy, PolicyTable
from springtide.engine.placement.unregistered import unregistered
from springtide.engine.simulation.memo import Memo
from springtide.model.device import Allocation, DeviceView, Inventory, Share, empty_view
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from springtide.model.refusal import Refusal

HOPES_MAX: Final = 65_536
DEVICES_ALONE: Final = FrameworkConfig(filters=(), pre_filters=frozenset())
"""No rule of kube-scheduler: who simulates has asked them before."""

DevicesOf = Callable[[str], DeviceView | Refusal]
"""What a node has of a family, and what is in use of it; or why it takes no pod of the family."""

Shares = tuple[tuple[str, tuple[Share, ...]], ...]


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """What a pod gets of a node's devices, and what it is charged for there."""

    allocations: tuple[Allocation, ...] = ()
    shares: Shares = ()


NOTHING_ASKED: Final = Fit()


class ForDevices(PolicyTable):
    """Policies for devices alone: nobody here chooses among nodes."""

    def for_nodes(self, pod_class: PodClass) -> Policy | None:
        """Return nothing."""
        del pod_class
        return None


class Judge:
    """Answers for any pod on any devices; equal questions are answered once."""

    def __init__(self, families: Mapping[str, DeviceFamily], policies: PolicyTable) -> None:
        self.families = families
        self.policies = policies
        self.unregistered = {name: unregistered(name) for name in families}
        ledger = Ledger()
        rules = Framework(DEVICES_ALONE)
        self._classes = Classes(families, ledger)
        self.exact = ExactFit(
            Grounds(
                ledger=ledger,
                framework=rules,
                families=families,
                by_scheduler={},
                policies=policies,
            )
        )
        self._hopeless: Memo[tuple[Ask, Inventory], bool] = Memo(weight_max=HOPES_MAX)

    def class_of(self, pod: Pod) -> PodClass:
        """Return the class of the pods that ask the same of devices."""
        return self._classes.of(pod)

    def answer(self, pod_class: PodClass, devices_of: DevicesOf) -> Fit | Refusal:
        """Return what a pod of this class gets, or why the devices refuse it.

        A refusal is unresolvable where the node would refuse the pod if nobody were on it.
        """
        if pod_class.refusal is not None:
            return replace(pod_class.refusal, is_unresolvable=True)
        given: list[Allocation] = []
        shares: list[tuple[str, tuple[Share, ...]]] = []
        for ask in pod_class.asks:
            view = devices_of(ask.family)
            if isinstance(view, Refusal):
                return view
            answer = self.exact.on(ask, view)
            if isinstance(answer, Refusal):
                devices = view.inventory if ask.reads_ids else view.but_for_ids
                return replace(answer, is_unresolvable=self.is_hopeless(ask, devices))
            given.append(answer)
            shares.append((ask.family, self.families[ask.family].shares(answer, view.inventory)))
        return Fit(allocations=tuple(given), shares=tuple(shares)) if given else NOTHING_ASKED

    def is_hopeless(self, ask: Ask, inventory: Inventory) -> bool:
        """Return whether these devices refuse the ask even if nobody uses them."""
        known = self._hopeless.get((ask, inventory))
        if known is None:
            answer = self.exact.on(ask, empty_view(inventory))
            hopeless = isinstance(answer, Refusal)
            known = self._hopeless.put((ask, inventory), hopeless, weight=1)
        return known

    def annotations(self, fit: Fit) -> dict[str, str]:
        """Return the annotations that the live scheduler would write of what a pod gets."""
        return {
            name: text
            for each in fit.allocations
            for name, text in self.families[each.family].encode(each).items()
        }

    def written(self) -> frozenset[str]:
        """Return the annotations by which pods tell what they hold."""
        return frozenset().union(*(each.written_annotations() for each in self.families.values()))
