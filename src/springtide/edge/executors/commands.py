"""Numbers as commands: one says which members there are, another has to make it so many.

The command finds what is wanted in its environment, and must do the same twice without a second effect. Exit
codes: 0 it is done or under way, 75 nobody knows, any other it had no effect.
"""

import msgspec

from springtide.edge.executors.errors import NotDone, OutcomeUnknown, Unobservable
from springtide.edge.executors.running import run
from springtide.model.replicas.execution import Observation, ScaleOrder
from springtide.wire.errors import MalformedObject
from springtide.wire.observations import read_observation

UNKNOWN = 75
"""What programs of old end with when somebody should try again."""


class Called(msgspec.Struct, frozen=True, kw_only=True):
    """The two commands, and how long each may take."""

    workload: str
    command: tuple[str, ...]
    observe: tuple[str, ...]
    timeout_s: float = 10.0


class Commands:
    """Scales by a command."""

    def __init__(self, called: Called) -> None:
        self._called = called

    async def observe(self) -> Observation:
        """Return what the one command prints."""
        command = self._called.observe
        try:
            finished = await run(command, environ=self._environ, timeout_s=self._called.timeout_s)
        except (NotDone, OutcomeUnknown) as fault:
            raise Unobservable(str(fault)) from fault
        if finished.code:
            raise Unobservable(f"{command[0]} ended with {finished.code}{finished.words}.")
        try:
            return read_observation(finished.output)
        except MalformedObject as fault:
            raise Unobservable(f"What {command[0]} prints cannot be read: {fault}") from fault

    async def scale(self, order: ScaleOrder) -> None:
        """Run the other command."""
        environ = {
            **self._environ,
            "HPA_GENERATION": str(order.generation),
            "HPA_DESIRED": str(order.desired),
            "HPA_CURRENT": str(order.current),
            "HPA_KEEP": ",".join(map(str, order.keep)),
        }
        command = self._called.command
        finished = await run(command, environ=environ, timeout_s=self._called.timeout_s)
        if finished.code < 0 or finished.code == UNKNOWN:
            raise OutcomeUnknown(f"{command[0]} ended with {finished.code}{finished.words}.")
        if finished.code:
            raise NotDone(f"{command[0]} ended with {finished.code}{finished.words}.")

    @property
    def _environ(self) -> dict[str, str]:
        return {"HPA_WORKLOAD": self._called.workload}
