"""One piece of work in a process of its own: it is fed, answers once, and ends, in time or by force.

For work that would keep an event loop from everybody else. The process is a module of ours, started
afresh; what is wrong with it goes to our own standard error.
"""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from springtide.base.errors import SpringtideError

ANSWER_BYTES_MAX: Final = 64 << 20
_READ_BYTES: Final = 1 << 20
_ENVIRONMENT: Final = {"OPENBLAS_NUM_THREADS": "1"}


class AsideFault(SpringtideError):
    """There is no answer: the process took too long, died, or said too much."""


async def performed(module: str, pieces: Iterable[bytes], *, time_s_max: float) -> bytes:
    """Return what a module answers to what it is fed, or raise AsideFault.

    Pieces are made one at a time, and others have their turn between them.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", module),
        stdin=PIPE,
        stdout=PIPE,
        env={**os.environ, **_ENVIRONMENT},
    )
    try:
        async with asyncio.timeout(time_s_max):
            with suppress(BrokenPipeError, ConnectionResetError):
                await _fed(process, pieces)
            answer = await _read(process)
            code = await process.wait()
    except TimeoutError as fault:
        raise AsideFault(f"There was no answer within {time_s_max:g} s.") from fault
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if code:
        raise AsideFault(f"The process that was to answer ended with {code}.")
    return answer


async def _fed(process: Process, pieces: Iterable[bytes]) -> None:
    assert process.stdin is not None
    for piece in pieces:
        process.stdin.write(piece)
        await process.stdin.drain()
        # Where there is room nobody waits, but others must have their turn.
        await asyncio.sleep(0)
    process.stdin.close()


async def _read(process: Process) -> bytes:
    assert process.stdout is not None
    answer = bytearray()
    while part := await process.stdout.read(_READ_BYTES):
        answer += part
        if len(answer) > ANSWER_BYTES_MAX:
            raise AsideFault(f"The answer is larger than {ANSWER_BYTES_MAX >> 20} MiB.")
    return bytes(answer)
