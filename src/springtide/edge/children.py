"""A process beside this one that is kept running: started again when it ends, and ended with us.

What it has to know is written to its standard input. It belongs to a session of its own, so that signals
of a terminal come to us alone.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Never

WAIT_FIRST_S: Final = 1.0
WAIT_MAX_S: Final = 60.0
STEADY_S: Final = 60.0
"""One that has lived so long is started again at once."""
END_S_MAX: Final = 15.0
"""So long it may take to end when it is asked to."""

Ended = Callable[[int, float], None]
"""Takes the exit code of a process that ended by itself, and when it is started again."""


async def keep(command: Sequence[str], data: bytes, *, ended: Ended) -> Never:
    """Keep it running until cancelled."""
    wait_s = WAIT_FIRST_S
    while True:
        begun_s = asyncio.get_running_loop().time()
        code = await _run(command, data)
        lived_s = asyncio.get_running_loop().time() - begun_s
        wait_s = WAIT_FIRST_S if lived_s >= STEADY_S else min(WAIT_MAX_S, 2 * wait_s)
        ended(code, wait_s)
        await asyncio.sleep(wait_s)


async def _run(command: Sequence[str], data: bytes) -> int:
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, start_new_session=True
    )
    try:
        # It may end without reading, which its exit code tells.
        with suppress(ConnectionError):
            await process.communicate(data)
        return await process.wait()
    finally:
        if process.returncode is None:
            await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    with suppress(TimeoutError):
        async with asyncio.timeout(END_S_MAX):
            await process.wait()
            return
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
