"""The client for programs that wait for answers."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self, TypeVar

import httpx2

from springtide.client import calls, holding
from springtide.client.calls import Answer, Call, Object
from springtide.client.errors import SessionGone, Unreachable
from springtide.client.holding import Held, Placing
from springtide.client.server import Server
from springtide.client.trying import Outcome, Send, trying
from springtide.wire.simulation import answers
from springtide.wire.simulation.calls import Copies, EstimateRules
from springtide.wire.simulation.shapes import SimulationResult

T = TypeVar("T")


class Client:
    """Asks one service; close it at the end, or enter it as a block."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._http = httpx2.Client(base_url=server.url, verify=server.context())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def filter(
        self, pod: Object, nodes: Sequence[Object], *, keeps_dynamic: bool = False
    ) -> SimulationResult:
        """Return which of these nodes take a pod, and why the others do not."""
        return self.call(calls.filtering(pod, nodes, keeps_dynamic=keeps_dynamic))

    def estimate(
        self,
        templates: Sequence[Object],
        pods: Sequence[tuple[Object, int]],
        *,
        nodes_max: int = 0,
        rules: EstimateRules = EstimateRules.ALL,
    ) -> answers.EstimateAnswer:
        """Return how many nodes of each template so many pods of each kind need."""
        said = holding.estimate(templates, pods, nodes_max=nodes_max, rules=rules)
        return self.call(calls.estimating(said))

    @contextmanager
    def session(
        self,
        nodes: Sequence[Object] = (),
        *,
        copies: Sequence[Copies] = (),
        lease_s: float | None = None,
    ) -> Iterator["Session"]:
        """Open a session on nodes, and end it with the block."""
        opened = self.call(calls.opening(holding.opening(nodes, copies, lease_s)))
        try:
            yield Session(self, Held(opened))
        finally:
            with suppress(SessionGone):
                self.call(calls.closing(opened.id))

    def call(self, call: Call[T]) -> T:
        """Return what a call is answered, or raise a SimulationFault."""
        server = self._server
        steps = trying(call, timeout_s=server.timeout_s, tries_max=server.tries_max)
        step = next(steps)
        while True:
            begun_s = time.monotonic()
            outcome: Outcome = Unreachable("")
            if isinstance(step, Send):
                outcome = self._sent(call, step.timeout_s)
            else:
                time.sleep(step.seconds)
            try:
                step = steps.send((outcome, time.monotonic() - begun_s))
            except StopIteration as end:
                made: T = end.value
                return made

    def _sent(self, call: Call[T], timeout_s: float) -> Outcome:
        try:
            came = self._http.request(
                call.method,
                call.path,
                content=call.body,
                headers={
                    **self._server.headers(),
                    "X-Request-Timeout": f"{max(timeout_s, 0.001):.3f}s",
                },
                timeout=timeout_s,
            )
        except (httpx2.RequestError, OSError) as fault:
            return unreachable(self._server, fault)
        return answered(came)


class Session:
    """One what-if; it ends with the block that opened it."""

    def __init__(self, client: Client, held: Held) -> None:
        self._client = client
        self._held = held

    @property
    def id(self) -> str:
        """Return its name."""
        return self._held.id

    @property
    def revision(self) -> int:
        """Return what names its present state."""
        return self._held.revision

    def evaluate(
        self,
        pods: Sequence[Object],
        nodes: Sequence[str] | None = None,
        *,
        allocations: bool = False,
    ) -> tuple[answers.PodEvaluation, ...]:
        """Return which nodes take each pod by itself."""
        call = self._held.evaluation(pods, nodes, allocations=allocations)
        return self._client.call(call).evaluations

    def place(
        self, pods: Sequence[Placing], *, all_or_nothing: bool = False
    ) -> answers.PlaceAnswer:
        """Place pods on nodes, one after the other."""
        call = self._held.placement(pods, all_or_nothing=all_or_nothing)
        return self._held.take(self._client.call(call))

    def remove(self, uids: Sequence[str]) -> answers.RemoveAnswer:
        """Take pods away."""
        return self._held.take(self._client.call(self._held.removal(uids)))

    def add(self, nodes: Sequence[Object] = (), *, copies: Sequence[Copies] = ()) -> None:
        """Add nodes."""
        self._held.take(self._client.call(self._held.growth(nodes, copies)))

    def remove_nodes(self, names: Sequence[str]) -> answers.RemoveAnswer:
        """Take nodes away with the pods on them."""
        return self._held.take(self._client.call(self._held.shrinking(names)))

    @contextmanager
    def fork(self) -> Iterator[None]:
        """Take back at the end of the block what was done in it, unless it was committed."""
        self._step("fork")
        level = self._held.forks
        try:
            yield
        finally:
            while self._held.forks >= level:
                self._step("revert")

    def commit(self) -> None:
        """Keep what was done since the last fork."""
        self._step("commit")

    def content(self) -> tuple[answers.NodeContent, ...]:
        """Return what is placed where."""
        return self._client.call(calls.looking(self.id)).content

    def _step(self, verb: str) -> None:
        self._held.take(self._client.call(self._held.step(verb)))


def answered(came: httpx2.Response) -> Answer:
    """Return what came back."""
    return Answer(
        status=came.status_code,
        body=came.content,
        retry_after=came.headers.get("retry-after", ""),
    )


def unreachable(server: Server, fault: Exception) -> Unreachable:
    """Return that nothing came back."""
    words = str(fault) or type(fault).__name__
    made = Unreachable(f"{server.url} did not answer: {words}. Check address and certificates.")
    made.__cause__ = fault
    return made
