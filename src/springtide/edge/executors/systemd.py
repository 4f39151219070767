"""Members as units of a systemd template: member 3 of `chat@.service` is `chat@3.service`.

A unit ends its member as it is written: what its `TimeoutStopSec` does, an executor cannot take back.
"""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from springtide.edge.executors.errors import NotDone, Unobservable
from springtide.edge.executors.running import run
from springtide.model.replicas.execution import Node, NodeState, Observation

PROGRAM: Final = "systemctl"
_STATES: Final = {
    "active": NodeState.RUNNING,
    "reloading": NodeState.RUNNING,
    "refreshing": NodeState.RUNNING,
    "activating": NodeState.STARTING,
    "deactivating": NodeState.STOPPING,
}
"""All others have ended, but for what is queued."""
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,8}")


class Units(msgspec.Struct, frozen=True, kw_only=True):
    """Which template, of the system or of the user, and how long a call may take.

    `environ` is added to that of `systemctl`, which may need it to find the manager of a user.
    """

    template: str
    is_of_user: bool = False
    timeout_s: float = 10.0
    environ: Mapping[str, str] = {}

    def unit(self, instance: str) -> str:
        """Return the name of one unit."""
        before, at, after = self.template.partition("@")
        return f"{before}{at}{instance}{after}"


class Systemd:
    """The units of one template."""

    def __init__(self, units: Units) -> None:
        self._units = units

    async def observe(self) -> Observation:
        """Return which units are active, or on their way."""
        pattern = self._units.unit("*")
        try:
            output = await self._called("show", "--property=Id,ActiveState,Job", "--", pattern)
        except NotDone as fault:
            raise Unobservable(str(fault)) from fault
        blocks = output.decode(errors="replace").strip().split("\n\n")
        found = [self._node(each) for each in blocks if each]
        nodes = tuple(sorted((each for each in found if each), key=lambda node: node.index))
        return Observation(replicas=len(nodes), nodes=nodes)

    async def start(self, index: int) -> None:
        """Start a unit and wait until it runs; one that runs is left alone."""
        await self._called("start", "--", self._units.unit(str(index)))

    async def stop(self, index: int) -> None:
        """Begin to stop a unit."""
        await self._called("stop", "--no-block", "--", self._units.unit(str(index)))

    async def kill(self, index: int) -> None:
        """Kill all processes of a unit."""
        await self._called("kill", "--signal=SIGKILL", "--", self._units.unit(str(index)))

    async def _called(self, *arguments: str) -> bytes:
        whose = ("--user",) if self._units.is_of_user else ()
        command = (PROGRAM, *whose, "--no-ask-password", *arguments)
        finished = await run(command, environ=self._units.environ, timeout_s=self._units.timeout_s)
        if finished.code:
            what = f"{PROGRAM} {arguments[0]} {arguments[-1]}"
            raise NotDone(f"{what} ended with {finished.code}{finished.words}.")
        return finished.output

    def _node(self, block: str) -> Node | None:
        said = dict(line.partition("=")[::2] for line in block.splitlines())
        name = said.get("Id", "")
        before, after = self._units.unit("\n").split("\n")
        instance = name.removeprefix(before).removesuffix(after)
        if name != self._units.unit(instance) or not _NUMBER.fullmatch(instance):
            return None
        state = _STATES.get(said.get("ActiveState", ""))
        if state is None and said.get("Job", "0") not in ("", "0"):
            state = NodeState.STARTING
        return None if state is None else Node(id=name, index=int(instance), state=state)
