"""Runs a command within a time and reads what it prints, up to a bound.

A command that takes too long is killed with all that it started. What had come of it by then, nobody knows.
"""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from springtide.edge.executors.errors import NotDone, OutcomeUnknown

OUTPUT_BYTES_MAX: Final = 1 << 20
WORDS_MAX: Final = 300


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """How a command ended and what it printed."""

    code: int
    output: bytes = b""
    complaint: bytes = b""

    @property
    def words(self) -> str:
        """Return its last words."""
        said = (self.complaint or self.output).decode(errors="replace").strip()
        return f": {said[-WORDS_MAX:]}" if said else ""


async def run(
    command: Sequence[str],
    *,
    timeout_s: float,
    environ: Mapping[str, str] | None = None,
    handed: Sequence[int] = (),
) -> Finished:
    """Return how a command ended; raises NotDone if it cannot be run, OutcomeUnknown if it is late."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **(environ or {})},
            pass_fds=tuple(handed),
            start_new_session=True,
        )
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or fault
        raise NotDone(f"{command[0]} cannot be run: {why}. Correct its path.") from fault
    try:
        async with asyncio.timeout(timeout_s):
            return await _finished(process)
    except TimeoutError as fault:
        raise OutcomeUnknown(
            f"{command[0]} did not end within {timeout_s:g} s and was killed."
        ) from fault
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _finished(process: asyncio.subprocess.Process) -> Finished:
    assert process.stdout is not None
    assert process.stderr is not None
    output, complaint = await asyncio.gather(_read(process.stdout), _read(process.stderr))
    return Finished(code=await process.wait(), output=output, complaint=complaint)


async def _read(stream: asyncio.StreamReader) -> bytes:
    """Return what is printed; what exceeds the bound is read and forgotten."""
    kept = bytearray()
    while part := await stream.read(1 << 16):
        kept += part[: OUTPUT_BYTES_MAX - len(kept)]
    return bytes(kept)
