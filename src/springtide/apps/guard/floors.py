"""How many replicas of a workload must stay: the highest one that holds state, as the adapter answers it."""

from springtide.apps.adapter.values import Values
from springtide.apps.guard.settings import Settings
from springtide.engine.guard import GuardReason, Unknown
from springtide.engine.metrics import Refused, read_asked
from springtide.wire.admission import Workload


class Floors:
    """Tells of floors."""

    def __init__(self, values: Values, settings: Settings) -> None:
        self._values = values
        self._settings = settings

    async def of(self, workload: Workload) -> int | Unknown:
        """Return the floor of a workload, or why it is not known."""
        index = self._settings.of_kind(workload.kind)
        asked = read_asked(index.metric, workload.namespace, f"{index.name_label}={workload.name}")
        found = asked if isinstance(asked, Refused) else await self._values.of(index, asked)
        if isinstance(found, Refused):
            return Unknown(reason=GuardReason.FLOOR_UNKNOWN, why=found.message)
        return int(found.value)
