"""How far gangs get on the nodes that are there, each placed alone.

A pod that fits is not started while its gang is short.
"""

from collections.abc import Iterable, Iterator

from springtide.apps.planner.report import GangPlaces
from springtide.engine.gang.ground import StandingNodes
from springtide.engine.gang.shortfall import shortfall
from springtide.model.gang import Gang
from springtide.model.pod import Pod


class Standing:
    """The gangs by their waiting pods; each is placed once, alone, on the nodes that are there."""

    def __init__(self, gangs: Iterable[Gang], ground: StandingNodes) -> None:
        self._gangs = tuple(gangs)
        self._by_uid = {pod.uid: gang for gang in self._gangs for pod in gang.pods}
        self._ground = ground
        self._known: dict[tuple[str, str, str], GangPlaces] = {}

    def of(self, pod: Pod) -> GangPlaces | None:
        """Return how far the pod's gang gets, None if it belongs to none."""
        gang = self._by_uid.get(pod.uid)
        return None if gang is None else self._placed(gang)

    def all(self) -> Iterator[GangPlaces]:
        """Yield how far every gang gets that has pods waiting, in the order of the input."""
        return map(self._placed, self._gangs)

    def _placed(self, gang: Gang) -> GangPlaces:
        known = self._known.get(gang.identity)
        if known is None:
            known = self._known[gang.identity] = _placed(gang, self._ground)
        return known


def sentence(gang: GangPlaces) -> str:
    """Return what is said of a pod's gang."""
    places = f"{gang.running} of at least {gang.minimum} pods have places on these nodes"
    if not gang.short_by:
        return f"Of its gang {gang.name}, {places}."
    return (
        f"Its gang {gang.name} is short by {gang.short_by}: {places}, and none is started before all "
        "of these are there."
    )


def _placed(gang: Gang, ground: StandingNodes) -> GangPlaces:
    tally = shortfall(gang, ground).tally
    return GangPlaces(
        name=gang.key, minimum=gang.minimum, running=tally.running, short_by=tally.missing
    )
