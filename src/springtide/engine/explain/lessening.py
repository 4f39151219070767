"""Changes that give the pod less: of devices and their memory and cores, or of a node's resources.

Each is the smallest of its kind: with one step more than it says, the pod fits nowhere. That holds
where less never does worse, which a pod with several containers that ask for devices can break.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, assert_never

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from springtide.base.names import CPU, PODS
from springtide.base.quantity import NANO, Quantity
from springtide.engine.capacity.shortage import is_bytes, shown
from springtide.engine.explain.bisection import Fits, largest
from springtide.engine.explain.changes import Change, ChangeKind
from springtide.engine.explain.trial import Trial
from springtide.engine.placement.admission import admitted
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.placement.wishes import Wish, WishKind, edited, lowered, put
from springtide.model.columns import distinct
from springtide.model.device_columns import DeviceColumns
from springtide.model.ledger import Ledger
from springtide.model.pod import Container, Pod
from springtide.model.refusal import Refusal
from springtide.model.resources import Resources, amount, lookup

_MIB: Final = 2**20
_PERCENT: Final = 100
_DEVICES_MAX: Final = 32

Amounts = npt.NDArray[np.int32] | npt.NDArray[np.int64]


def less(pod: Pod, trial: Trial) -> Iterator[Change]:
    """Yield a change for everything of which the pod could ask less."""
    families = trial.tables.families
    for family in families.values():
        for wish in family.wishes(pod):
            yield from _less_of_devices(pod, family, wish, trial)
    managed = {name for family in families.values() for name in family.resource_names()}
    for name in _asked_names(pod):
        if name not in managed and name != PODS:
            yield from _less_of_nodes(pod, name, trial)


def _less_of_devices(pod: Pod, family: DeviceFamily, wish: Wish, trial: Trial) -> Iterator[Change]:
    def fits(amount: int) -> bool:
        changed = _written_anew(lowered(pod, wish, amount), trial)
        return changed is not None and trial.fits(changed)

    value = _largest(wish, fits, _free_of_devices(family.name, wish, trial.tables.ledger))
    changed = None if value is None else _written_anew(lowered(pod, wish, value), trial)
    if value is not None and changed is not None:
        words = str(wish.asked), str(value)
        yield _change(wish.resource, (wish.asked, value), words, changed, trial)


def _largest(wish: Wish, fits: Fits, free: Sequence[int]) -> int | None:
    # Numbers of devices are small, and some are denied between others that are not.
    if wish.kind is WishKind.DEVICES and wish.asked <= _DEVICES_MAX:
        smaller = range(wish.asked - 1, wish.least - 1, -1)
        return next((count for count in smaller if fits(count)), None)
    return largest(wish.least, wish.asked, fits, hints=free)


def _written_anew(pod: Pod, trial: Trial) -> Pod | None:
    """Return the pod as admission would store it, None if it would be denied."""
    answer = admitted(pod, trial.tables.families)
    return None if isinstance(answer, Refusal) else answer


def _free_of_devices(family: str, wish: Wish, ledger: Ledger) -> list[int]:
    """Return the amounts that devices have free, in the unit of the wish."""
    columns = ledger.devices.get(family)
    if columns is None:
        return []
    return _distinct(_free(columns, wish)[: ledger.count])


def _free(columns: DeviceColumns, wish: Wish) -> Amounts:
    total = columns.memory_total
    match wish.kind:
        case WishKind.MEMORY:
            return (total - columns.memory_used) // wish.factor
        case WishKind.MEMORY_PART:
            free = (total - columns.memory_used).astype(np.int64)
            return free * _PERCENT // np.maximum(total, 1)
        case WishKind.CORES:
            return columns.cores_total - columns.cores_used
        case WishKind.DEVICES:
            return columns.count
        case _:
            assert_never(wish.kind)


def _distinct(amounts: Amounts) -> list[int]:
    found: list[int] = distinct(amounts.ravel()).tolist()
    return found


def _less_of_nodes(pod: Pod, name: str, trial: Trial) -> Iterator[Change]:
    step, asked = _step(name), _most_asked(pod, name)
    value = largest(
        1,
        -(-asked // step),
        lambda steps: trial.fits(_capped(pod, name, steps * step)),
        hints=_free_of_nodes(name, step, trial.tables.ledger),
    )
    if value is None:
        return
    after = value * step
    words = shown(name, asked), shown(name, after)
    yield _change(name, (asked, after), words, _capped(pod, name, after), trial)


def _free_of_nodes(name: str, step: int, ledger: Ledger) -> list[int]:
    resources = ledger.resources
    index = resources.known(name)
    if index is None:
        return []
    free = resources.allocatable[index, : ledger.count] - resources.used[index, : ledger.count]
    return _distinct(free // step)


def _change(
    name: str, amounts: tuple[int, int], words: tuple[str, str], changed: Pod, trial: Trial
) -> Change:
    """Return the change from one amount to another, which are told in these words."""
    row = trial.row(changed)
    assert row is not None, "an amount was found that fits"
    (asked, value), (before, after) = amounts, words
    return Change(
        kind=ChangeKind.ASK_LESS,
        text=f"ask {name}: {after} instead of {before}",
        subject=name,
        before=before,
        after=after,
        node=trial.name(row),
        pod=changed,
        size=(asked - value) / asked,
    )


# Amounts of a node's resources, in the scheduler's unit: one container is never asked for more.


def _step(name: str) -> int:
    """Return the step in which people write this resource."""
    return _MIB if is_bytes(name) else 1


def _asked_names(pod: Pod) -> list[str]:
    names = {name for name, _ in pod.spec.requests}
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        names.update(name for name, _ in container.requests)
    return sorted(names)


def _most_asked(pod: Pod, name: str) -> int:
    return max(_amounts(pod, name), default=0)


def _amounts(pod: Pod, name: str) -> Iterable[int]:
    spec = pod.spec
    asked: list[Resources] = [spec.requests]
    asked += [each.requests for each in (*spec.init_containers, *spec.containers)]
    return (
        amount(name, quantity)
        for resources in asked
        if (quantity := lookup(resources, name)) is not None
    )


def _capped(pod: Pod, name: str, most: int) -> Pod:
    """Return the pod with nobody asking more of a resource than this."""
    quantity = Quantity(nano=most * (NANO // 1000 if name == CPU else NANO))

    def lower(resources: Resources) -> Resources:
        asked = lookup(resources, name)
        if asked is None or amount(name, asked) <= most:
            return resources
        return put(resources, name, quantity)

    def edit(container: Container) -> Container:
        return replace(container, requests=lower(container.requests))

    changed = edited(pod, edit)
    return replace(changed, spec=replace(changed.spec, requests=lower(changed.spec.requests)))
