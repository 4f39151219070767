"""What simulations decide by: device families, profiles, policies, and how much may be asked at once.

It is set up from the same device configuration as the live scheduler, and holds nothing that could change
a cluster.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from springtide.apps.planner.families import POLICIES, DeviceConfig, Policies, families
from springtide.engine.placement.family import DeviceFamily
from springtide.engine.simulation.bounds import Bounds
from springtide.engine.simulation.filtering import Sight
from springtide.engine.simulation.judge import ForDevices, Judge
from springtide.engine.simulation.supply import Supplier
from springtide.model.profile import DeviceProfile, unknown_vendor
from springtide.wire.hami import register
from springtide.wire.k8s import Parts
from springtide.wire.simulation import read_standing

DEFAULT_BOUNDS: Final = Bounds()
HAMI: Final = Policies()
"""The policies of HAMi's scheduler, where nothing else is set."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What every simulation of one process goes by. `resets` takes copied registrations as new ones.

    `left_out` are the profiles that name a vendor whom nobody here knows: none of them is used in part.
    """

    families: Mapping[str, DeviceFamily]
    profiles: tuple[DeviceProfile, ...]
    left_out: tuple[DeviceProfile, ...]
    judge: Judge
    resets: Sight
    keeps: Sight
    bounds: Bounds

    def sight(self, *, keeps_dynamic: bool) -> Sight:
        """Return who looks at nodes; with `keeps_dynamic` registrations are trusted as they stand."""
        return self.keeps if keeps_dynamic else self.resets


def rules(
    config: DeviceConfig | None = None,
    policies: Policies = HAMI,
    *,
    profiles: Sequence[DeviceProfile] = (),
    node_selector: Mapping[str, str] | None = None,
    bounds: Bounds = DEFAULT_BOUNDS,
) -> Rules:
    """Return the rules of a process; a vendor's configuration that cannot be raises InvalidConfig."""
    kinds = families(config, policies)
    # Policies that learn from pods would make answers depend on what was asked before: these see none.
    judge = Judge(kinds, ForDevices({name: make(kinds) for name, make in POLICIES.items()}))
    usable = tuple(each for each in profiles if not unknown_vendor(each, kinds))

    def sight(*, keeps_dynamic: bool) -> Sight:
        supplier = Supplier(
            kinds,
            usable,
            node_selector=node_selector,
            keeps_dynamic=keeps_dynamic,
            part=register.parted,
        )
        return Sight(supplier, judge, lambda text: read_standing(text, Parts()))

    return Rules(
        families=kinds,
        profiles=usable,
        left_out=tuple(each for each in profiles if each not in usable),
        judge=judge,
        resets=sight(keeps_dynamic=False),
        keeps=sight(keeps_dynamic=True),
        bounds=bounds,
    )
