"""Performs what the live scheduler wants done in the cluster, and tells it what came of it.

Commands about one pod or node are performed in the order in which they were asked for, but those about the
node of a bind, which has one command under way at a time, beside others. There are only so many at once,
and each has a deadline. Events are for people, and wait a little while anything else is to be done. A fault
is an outcome; nothing that goes wrong here ends the process.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Final, Self, TypeVar, assert_never

import msgspec

from springtide.apps.extender.announcing import WAITING_MAX, Announcer
from springtide.apps.extender.log import Log
from springtide.base.clock import Calendar
from springtide.edge.cluster import (
    NODES,
    PODS,
    Cluster,
    ClusterFault,
    Conflict,
    Kind,
    Metadata,
    NotFound,
    TimedOut,
    node,
    pod,
)
from springtide.engine.live import (
    AnswerBind,
    Command,
    Commands,
    CreateBinding,
    Done,
    Failed,
    Fault,
    NodeRead,
    Outcome,
    PatchNode,
    PatchPod,
    PodRead,
    ReadNode,
    ReadPod,
    RecordEvent,
)

T = TypeVar("T")

_ENDED: Final = ("Succeeded", "Failed")

Tell = Callable[[str, Outcome], None]
"""Takes the outcome of a command of a bind."""
Answer = Callable[[AnswerBind], None]


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How long one request may take, how many are under way, and how many commands may wait."""

    request_s: float
    requests_max: int
    commands_max: int


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    annotations: dict[str, str] = {}
    resource_version: str = ""


class _Status(msgspec.Struct, frozen=True):
    phase: str = ""


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    node_name: str = ""


class _Read(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    spec: _Spec = _Spec()
    status: _Status = _Status()


_DECODER: Final = msgspec.json.Decoder(_Read)
_NODE: Final = Kind(NODES, _DECODER.decode)
_POD: Final = Kind(PODS, _DECODER.decode)


class Performer:
    """Performs commands while its block is entered."""

    def __init__(
        self, cluster: Cluster, calendar: Calendar, *, pace: Pace, component: str, log: Log
    ) -> None:
        self._cluster = cluster
        self._pace = pace
        self._log = log
        self._announcer = Announcer(cluster, calendar, component=component)
        self._lanes: dict[str, deque[Command]] = {}
        self._waiting = 0
        self._pressing = 0
        self._room = asyncio.Semaphore(pace.requests_max)
        self._tasks: set[asyncio.Task[None]] = set()
        self.tell: Tell = _untold
        self.answer: Answer = _unanswered
        self.dropped = 0
        self.failed = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def waiting(self) -> int:
        """Return how many commands are not done yet."""
        return self._waiting

    async def idle(self) -> None:
        """Wait until everything that was asked for is done."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def ask(self, commands: Commands) -> None:
        """Have commands performed."""
        for command in commands:
            if isinstance(command, AnswerBind):
                self.answer(command)
            elif self._has_room(command):
                self._queue(command)
            else:
                self._drop(command)

    async def patch(self, command: PatchPod) -> None:
        """Perform one patch now, or raise ClusterFault."""
        await self._patch_pod(command)

    def _has_room(self, command: Command) -> bool:
        if isinstance(command, RecordEvent) and self._waiting - self._pressing >= WAITING_MAX:
            return False
        return self._waiting < self._pace.commands_max

    def _queue(self, command: Command) -> None:
        self._wait(command, 1)
        key = _lane(command)
        lane = self._lanes.get(key)
        if lane is not None:
            lane.append(command)
            return
        self._lanes[key] = deque([command])
        task = asyncio.get_running_loop().create_task(self._drive(key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _drop(self, command: Command) -> None:
        self.dropped += 1
        bind = getattr(command, "bind", "")
        if bind:
            message = "too many changes are waiting for the API server; try again later"
            self.tell(bind, Failed(fault=Fault.OTHER, message=message))

    async def _drive(self, key: str) -> None:
        lane = self._lanes[key]
        try:
            while lane:
                command = lane[0]
                await self._perform(command)
                self._wait(lane.popleft(), -1)
        finally:
            for command in lane:
                self._wait(command, -1)
            del self._lanes[key]

    def _wait(self, command: Command, count: int) -> None:
        """Count what waits, and what events wait for."""
        self._waiting += count
        if isinstance(command, RecordEvent):
            return
        self._pressing += count
        if self._pressing:
            self._announcer.quiet.clear()
        else:
            self._announcer.quiet.set()

    async def _perform(self, command: Command) -> None:
        outcome = await self._outcome(command)
        if isinstance(outcome, Failed):
            self.failed += 1
            self._log(
                "command_failed",
                is_fault=outcome.fault is Fault.OTHER,
                command=type(command).__name__,
                fault=outcome.fault.value,
                message=outcome.message,
            )
        bind = getattr(command, "bind", "")
        if bind:
            self.tell(bind, outcome)

    async def _outcome(self, command: Command) -> Outcome:
        try:
            return await self._done(command)
        except NotFound as fault:
            return Failed(fault=Fault.NOT_FOUND, message=str(fault))
        except Conflict as fault:
            return Failed(fault=Fault.CONFLICT, message=str(fault))
        except (ClusterFault, msgspec.MsgspecError) as fault:
            return Failed(fault=Fault.OTHER, message=str(fault))
        except Exception as bug:  # noqa: BLE001 - the top of a command's task
            self._log("bug", is_fault=True, where=type(command).__name__, message=repr(bug))
            return Failed(fault=Fault.OTHER, message="an internal error; see the log")

    async def _done(self, command: Command) -> Outcome:
        match command:
            case PatchNode():
                return Done(version=await self._patch_node(command))
            case PatchPod():
                return Done(version=await self._patch_pod(command))
            case ReadNode():
                return await self._read_node(command)
            case ReadPod():
                return await self._read_pod(command)
            case CreateBinding():
                target = pod(command.namespace, command.name, uid=command.uid)
                await self._in_time(self._cluster.bind(target, command.node))
            case RecordEvent():
                await self._announcer.announce(command, self._in_time)
            case AnswerBind():
                self.answer(command)
            case _:
                assert_never(command)
        return Done()

    async def _read_node(self, command: ReadNode) -> NodeRead:
        await asyncio.sleep(command.after_s)
        found = (await self._in_time(self._cluster.read(_NODE, command.name))).metadata
        return NodeRead(annotations=found.annotations, version=found.resource_version)

    async def _read_pod(self, command: ReadPod) -> PodRead:
        reading = self._cluster.read(_POD, command.name, namespace=command.namespace)
        found = await self._in_time(reading)
        return PodRead(is_finished=found.status.phase in _ENDED, node=found.spec.node_name)

    async def _patch_node(self, command: PatchNode) -> str:
        target = node(command.name, version=command.version)
        change = Metadata(annotations=command.annotations)
        return await self._in_time(self._cluster.patch(target, change))

    async def _patch_pod(self, command: PatchPod) -> str:
        target = pod(command.namespace, command.name, uid=command.uid)
        change = Metadata(annotations=command.annotations, labels=command.labels)
        return await self._in_time(self._cluster.patch(target, change))

    async def _in_time(self, work: Coroutine[object, object, T]) -> T:
        async with self._room:
            try:
                async with asyncio.timeout(self._pace.request_s):
                    return await work
            except TimeoutError as fault:
                raise TimedOut(
                    f"The API server gave no answer within {self._pace.request_s:g} s. "
                    "Check that it is up and can be reached from here."
                ) from fault


def _lane(command: Command) -> str:
    """Return what must be done one after the other."""
    match command:
        case RecordEvent(uid=uid):
            return f"event/{uid}"
        case AnswerBind(uid=uid):
            return f"answer/{uid}"
        case PatchPod(namespace=namespace, name=name):
            # Also those of binds: what takes a reservation off a pod must not come after a new one.
            return f"pod/{namespace}/{name}"
        case _ if command.bind:
            return f"bind/{command.bind}"
        case PatchNode(name=name) | ReadNode(name=name):
            return f"node/{name}"
        case (
            ReadPod(namespace=namespace, name=name) | CreateBinding(namespace=namespace, name=name)
        ):
            return f"pod/{namespace}/{name}"
        case _:
            assert_never(command)


def _untold(bind: str, outcome: Outcome) -> None:
    raise AssertionError(f"nobody asked for the outcome of {bind}: {outcome}")


def _unanswered(answer: AnswerBind) -> None:
    raise AssertionError(f"nobody asked for a bind of {answer.uid}")
