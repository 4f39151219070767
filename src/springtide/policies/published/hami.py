"""HAMi's scores on the trace: how much of slots, cores and memory of its devices a node has in use.

A device has ten slots, and a pod takes one on each that it gets; cores and memory are both the part of
the GPU that the trace tells. Under binpack the fullest node wins, under spread the emptiest, and the
devices of a node are chosen the same way by what they would have in use. Pods without a GPU follow the
same node score, though in a cluster HAMi leaves them to the default scheduler. NUMA plays no part.
"""

from collections.abc import Sequence
from typing import Final

from springtide.engine.trace.policy import Scores, Setting
from springtide.engine.trace.shape import Shape
from springtide.model.trace import GPU_MILLI
from springtide.policies.published.scoring import HighestScore

SLOTS: Final = 10


class Hami(HighestScore):
    """HAMi's scheduler with a policy for nodes and one for devices."""

    def __init__(self, setting: Setting, *, packs_nodes: bool, packs_devices: bool) -> None:
        super().__init__(setting)
        self._packs_nodes = packs_nodes
        self._packs_devices = packs_devices

    def score(self, shape: Shape, rows: Sequence[int], scores: Scores) -> None:
        """Score by what is in use; a node without enough devices that have a slot is refused."""
        sign = 1 if self._packs_nodes else -1
        for row in rows:
            if len(self._fitting(shape, row)) >= shape.gpus:
                scores[row] = sign * self._in_use(row)

    def devices(self, shape: Shape, row: int) -> tuple[int, ...]:
        """Return the devices that would have the most in use, or the least."""
        sign = -1 if self._packs_devices else 1
        ordered = sorted(
            self._fitting(shape, row),
            key=lambda index: sign * self._device_in_use(shape, row, index),
        )
        return tuple(sorted(ordered[: shape.gpus]))

    def _fitting(self, shape: Shape, row: int) -> list[int]:
        free, pods = self.state.gpus_free[row], self.state.pods_on[row]
        milli = shape.gpu_milli
        return [index for index, each in enumerate(free) if each >= milli and pods[index] < SLOTS]

    def _in_use(self, row: int) -> float:
        gpus = len(self.state.gpus_free[row])
        if not gpus:
            return 0
        used_milli = gpus * GPU_MILLI - self.state.total_free[row]
        return _sum(sum(self.state.pods_on[row]), used_milli) / gpus

    def _device_in_use(self, shape: Shape, row: int, index: int) -> int:
        used_milli = GPU_MILLI - self.state.gpus_free[row][index] + shape.gpu_milli
        return _sum(self.state.pods_on[row][index] + 1, used_milli)


def _sum(slots: int, used_milli: int) -> int:
    """Return the shares of slots, cores and memory in use together, in thousandths of a device.

    Whole numbers, so that equal nodes are equal; HAMi multiplies by ten, which moves nothing.
    """
    return slots * GPU_MILLI // SLOTS + 2 * used_milli


def hami_binpack(setting: Setting) -> Hami:
    """Return full nodes first, and on them full devices."""
    return Hami(setting, packs_nodes=True, packs_devices=True)


def hami_default(setting: Setting) -> Hami:
    """Return what HAMi ships: full nodes first, and on them empty devices."""
    return Hami(setting, packs_nodes=True, packs_devices=False)


def hami_spread(setting: Setting) -> Hami:
    """Return empty nodes first, and on them empty devices."""
    return Hami(setting, packs_nodes=False, packs_devices=False)
