"""How many pods a workload wants and has, by its own account."""

import msgspec


class Scale(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the scale of a workload says; pods that are about to end are still counted in `current`."""

    wanted: int
    current: int
