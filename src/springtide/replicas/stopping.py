"""The end of a member: before it is stopped, and when it is told to.

A hook that runs before a stop asks the member to leave and waits until it holds nothing; SIGTERM asks the
same, and of both the earlier times hold. Who is out of patience ends all the same, and that is counted as
forced.
"""

import asyncio
import signal
from typing import Final

from springtide.replicas.controller import ReplicaController

DRAIN_S_MAX: Final = 24 * 3600.0


async def drain(
    controller: ReplicaController, *, timeout_s: float | None = None, prestop: bool = True
) -> bool:
    """Ask the member to leave, and return whether it holds nothing within the time."""
    await controller.stop(prestop=prestop)
    try:
        async with asyncio.timeout(DRAIN_S_MAX if timeout_s is None else timeout_s):
            await controller.drained()
    except TimeoutError:
        return False
    return True


async def until_told(
    controller: ReplicaController,
    *,
    grace_s: float | None = None,
    stop: asyncio.Event | None = None,
) -> bool:
    """Wait until this process is told to stop, drain, and close; return whether it ended drained.

    A second signal ends at once. `stop` is for those who handle signals themselves.
    """
    told = stop if stop is not None else asyncio.Event()
    again = asyncio.Event()
    if stop is None:
        _install(told, again)
    await told.wait()
    draining = asyncio.create_task(drain(controller, timeout_s=grace_s))
    hurried = asyncio.create_task(again.wait())
    await asyncio.wait([draining, hurried], return_when=asyncio.FIRST_COMPLETED)
    was_drained = draining.done() and draining.result()
    for each in (draining, hurried):
        each.cancel()
    await controller.close()
    return was_drained


def _install(told: asyncio.Event, again: asyncio.Event) -> None:
    def tell() -> None:
        (again if told.is_set() else told).set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, tell)
