"""Members as processes of this machine, which outlive the executor and are found again by the next one.

Whether a member runs is read from the system each time and never remembered: by its lock, and by the record
of its birth. So an executor that was killed at any moment starts nobody twice.
"""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from springtide.edge.executors import births
from springtide.edge.executors.births import Birth
from springtide.edge.executors.errors import NotDone, OutcomeUnknown, Unobservable
from springtide.model.replicas.execution import Node, NodeState, Observation

LAUNCHER: Final = Path(__file__).with_name("launching.py")
INDEX: Final = "{index}"
_LOCK: Final = re.compile(r"(\d{1,9})\.lock")


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """How members are started and stopped; `{index}` stands for their number.

    What they print goes where the executor prints, or is added to the file `log`.
    """

    command: tuple[str, ...]
    folder: Path
    environ: Mapping[str, str] = {}
    directory: str = ""
    log: str = ""
    stop_signal: signal.Signals = signal.SIGTERM
    timeout_s: float = 10.0


class Processes:
    """The members of one workload on this machine."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def observe(self) -> Observation:
        """Return who runs."""
        try:
            self._pool.folder.mkdir(parents=True, exist_ok=True)
            names = [_LOCK.fullmatch(each.name) for each in self._pool.folder.iterdir()]
            indexes = sorted(int(each[1]) for each in names if each is not None)
            found = [self._node(index) for index in indexes]
        except OSError as fault:
            why = f"{self._pool.folder} cannot be read: {fault.strerror or fault}."
            raise Unobservable(f"{why} Give the executor the right to.") from fault
        nodes = tuple(each for each in found if each is not None)
        return Observation(replicas=len(nodes), nodes=nodes)

    async def start(self, index: int) -> None:
        """Start one, unless it runs."""
        if self._node(index) is not None:
            return
        try:
            self._pool.folder.mkdir(parents=True, exist_ok=True)
            with births.locking(self._lock(index)) as lock:
                if lock is not None:
                    await self._launch(index, lock)
        except OSError as fault:
            why = f"{fault.filename or self._pool.folder}: {fault.strerror or fault}"
            raise NotDone(f"Member {index} cannot be started: {why}. Correct the path.") from fault

    async def stop(self, index: int) -> None:
        """Ask one to end by a signal."""
        with suppress(ProcessLookupError):
            self._signal(index, self._pool.stop_signal)
            # Written after the signal: a member that bears the mark was asked for sure.
            self._stopping(index).touch()

    async def kill(self, index: int) -> None:
        """End one and all of its session's first group."""
        with suppress(ProcessLookupError):
            self._signal(index, signal.SIGKILL)

    async def _launch(self, index: int, lock: int) -> None:
        pool = self._pool
        births.forget(self._record(index), self._stopping(index))
        command = [_filled(each, index) for each in pool.command]
        launcher = [sys.executable, "-I", "-S", str(LAUNCHER), str(self._record(index))]
        with _opened(_filled(pool.log, index)) as log:
            process = await asyncio.create_subprocess_exec(
                *launcher,
                births.boot_id(),
                _filled(pool.directory, index),
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environ(index),
                pass_fds=(lock,),
            )
        code = await self._ended(process, index)
        if code:
            why = os.strerror(code)
            raise NotDone(f"{command[0]} cannot be run for member {index}: {why}. Correct command.")

    async def _ended(self, process: asyncio.subprocess.Process, index: int) -> int:
        """Return the exit code of a launcher, which ends when its member runs."""
        try:
            async with asyncio.timeout(self._pool.timeout_s):
                return await process.wait()
        except TimeoutError as fault:
            took = f"{self._pool.timeout_s:g} s"
            raise OutcomeUnknown(f"Member {index} did not begin to run within {took}.") from fault
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    def _environ(self, index: int) -> Mapping[str, str]:
        given = {name: _filled(each, index) for name, each in self._pool.environ.items()}
        return {**os.environ, **given, "HPA_INDEX": str(index)}

    def _node(self, index: int) -> Node | None:
        """Return a member that runs; what was written of one that has ended is removed."""
        record, stopping = self._record(index), self._stopping(index)
        is_locked, birth = births.is_locked(self._lock(index)), births.read_birth(record)
        if not is_locked and (birth is None or not births.lives(birth)):
            births.forget(record, stopping)
            return None
        state = NodeState.RUNNING if birth is not None else NodeState.STARTING
        if stopping.exists():
            state = NodeState.STOPPING
        return Node(id=f"pid-{birth.pid if birth else 0}", index=index, state=state)

    def _signal(self, index: int, number: signal.Signals) -> None:
        """Send a signal to the member, to its whole group if that is to end or all that is left."""
        birth = births.read_birth(self._record(index))
        if birth is None:
            if births.is_locked(self._lock(index)):
                raise NotDone(f"Member {index} is only being started. It is stopped when it runs.")
            return
        if births.lives(birth) and number is not signal.SIGKILL:
            _send(birth, number)
        elif births.lives(birth) or births.is_locked(self._lock(index)):
            os.killpg(birth.pid, number)

    def _lock(self, index: int) -> Path:
        return self._pool.folder / f"{index}.lock"

    def _record(self, index: int) -> Path:
        return self._pool.folder / f"{index}.born"

    def _stopping(self, index: int) -> Path:
        return self._pool.folder / f"{index}.stopping"


def _send(birth: Birth, number: signal.Signals) -> None:
    """Send a signal to this very process, and to no later one of its id."""
    handle = os.pidfd_open(birth.pid)
    try:
        if births.lives(birth):
            signal.pidfd_send_signal(handle, number)
    finally:
        os.close(handle)


@contextmanager
def _opened(path: str) -> Iterator[int | None]:
    """Open the file to which a member's words are added; None if they go where ours go."""
    if not path:
        yield None
        return
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        yield log
    finally:
        os.close(log)


def _filled(text: str, index: int) -> str:
    return text.replace(INDEX, str(index))
