"""A real etcd as a process of this machine, whose disk can be lost."""

import asyncio
import shutil
import socket
from pathlib import Path
from typing import Final

import aiohttp

from springtide.base.errors import SpringtideError

HOST: Final = "127.0.0.1"
START_S_MAX: Final = 30.0
LOOK_S: Final = 0.1


class EtcdNotStarted(SpringtideError):
    """It does not answer; its log says why."""


class EtcdServer:
    """One of them; `port` stays the same however often it is started."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._data = folder / "etcd"
        self._log = folder / "etcd.log"
        self.port, self._peers = _free(2)
        self._running: asyncio.subprocess.Process | None = None
        self._wiping: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start it, and wait until it answers; raises EtcdNotStarted."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            try:
                self._running = await asyncio.create_subprocess_exec(
                    *self._command(), stdout=log, stderr=log
                )
            except OSError as fault:
                raise EtcdNotStarted(
                    f"{self._program} cannot be started: {fault.strerror}."
                ) from fault
        try:
            async with asyncio.timeout(START_S_MAX), aiohttp.ClientSession() as session:
                await self._until_well(session)
        except TimeoutError as fault:
            raise EtcdNotStarted(
                f"{self._program} does not answer; {self._log} says why."
            ) from fault

    async def stop(self) -> None:
        """End it as a machine without power would."""
        running, self._running = self._running, None
        if running is not None and running.returncode is None:
            running.kill()
            await running.wait()

    async def wipe(self) -> None:
        """Kill it, lose its disk, and start it again."""
        # Whoever breaks things may be told to stop meanwhile; a store that is half wiped is none.
        self._wiping = asyncio.create_task(self._wiped())
        await asyncio.shield(self._wiping)

    async def close(self) -> None:
        """End it for good."""
        if self._wiping is not None:
            await asyncio.wait([self._wiping])
        await self.stop()

    async def _wiped(self) -> None:
        await self.stop()
        await asyncio.to_thread(shutil.rmtree, self._data)
        await self.start()

    async def _until_well(self, session: aiohttp.ClientSession) -> None:
        is_well = False
        while not is_well:
            await asyncio.sleep(LOOK_S)
            is_well = await self._is_well(session)

    async def _is_well(self, session: aiohttp.ClientSession) -> bool:
        if self._running is None or self._running.returncode is not None:
            raise EtcdNotStarted(f"{self._program} has ended; {self._log} says why.")
        try:
            async with session.get(f"http://{HOST}:{self.port}/health") as answer:
                return b"true" in await answer.read()
        except aiohttp.ClientError:
            return False

    def _command(self) -> list[str]:
        clients, peers = f"http://{HOST}:{self.port}", f"http://{HOST}:{self._peers}"
        return [
            self._program,
            f"--data-dir={self._data}",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
            "--log-level=warn",
        ]


def _free(count: int) -> list[int]:
    sockets = [socket.create_server((HOST, 0)) for _ in range(count)]
    found = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return found
