"""Scheduler extenders over HTTP, as the engine asks them.

An extender is sent pods and nodes as they were given, and new nodes as their templates describe them.
What is not asked, because the budget of the plan is spent or because the extender does not answer, is
not passed in silence: it is a failure like any other.
"""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from springtide.apps.planner.bodies import Bodies
from springtide.apps.planner.exchanged import tell_calls
from springtide.apps.planner.extenders import Sorted
from springtide.apps.planner.spending import Breaker, Budget, Calls
from springtide.base.clock import Clock
from springtide.base.telling import Tell, Untold
from springtide.edge.http import (
    CONCURRENCY_MAX,
    Exchange,
    HttpFault,
    Refused,
    Server,
    TimedOut,
    Unreachable,
    Unusable,
    client_context,
)
from springtide.engine.placement.extenders import Failed, Filtered, Question
from springtide.model.pod import PodSpec
from springtide.model.problem import Problem
from springtide.model.scheduler import Extender, ExtenderTLSConfig
from springtide.wire import extender as wire
from springtide.wire.configurations import SCHEDULER_KIND, Given

_NANO = 1_000_000_000


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """What all extenders of a plan are called with."""

    found: Sorted
    bodies: Bodies
    budget: Budget
    clock: Clock
    tell: Tell = Untold()


class HttpFilter:
    """One extender that is called; `calls` counts the calls that were made."""

    def __init__(self, extender: Extender, exchange: Exchange, caller: Caller) -> None:
        self.extender = extender
        self.calls = 0
        self._exchange = exchange
        self._caller = caller
        self._breaker = Breaker(caller.clock)
        self._timeout_s = extender.call_timeout.nanoseconds / _NANO

    @property
    def name(self) -> str:
        """Return what kube-scheduler calls the extender."""
        return self.extender.url_prefix

    @property
    def is_ignorable(self) -> bool:
        """Return whether pods may be placed although it fails."""
        return self.extender.ignorable

    def is_interested(self, spec: PodSpec) -> bool:
        """Return whether it has a say in pods of this spec."""
        return self._caller.found.is_interested(self.extender, spec)

    def filter(self, questions: Sequence[Question]) -> list[Filtered | Failed]:
        """Ask everything that patience and budget allow."""
        budget = self._caller.budget
        answers: list[Filtered | Failed] = []
        while left := questions[len(answers) :]:
            refusal = self._breaker.refusal or budget.refusal
            if refusal:
                return [*answers, *([Failed(text=refusal)] * len(left))]
            answers += self._asked(left[: budget.calls_left(CONCURRENCY_MAX)])
        return answers

    def _asked(self, questions: Sequence[Question]) -> list[Filtered | Failed]:
        """Ask so many questions at once."""
        budget, clock = self._caller.budget, self._caller.clock
        bodies = [self._body(question) for question in questions]
        is_short = budget.seconds_left < self._timeout_s
        started_s = clock.monotonic_s()
        outcomes = self._exchange.post_all(
            bodies, timeout_s=min(self._timeout_s, budget.seconds_left)
        )
        took_s = clock.monotonic_s() - started_s
        budget.spend(seconds=took_s, calls=len(questions))
        tell_calls(self._caller.tell, address(self.extender), bodies, outcomes, took_s=took_s)
        self.calls += len(questions)
        for outcome in outcomes:
            self._breaker.count(is_reached=not isinstance(outcome, Unreachable | TimedOut))
        return [
            Failed(text=budget.out_of_time)
            if is_short and isinstance(outcome, TimedOut)
            else self._answer(outcome)
            for outcome in outcomes
        ]

    def _body(self, question: Question) -> bytes:
        bodies = self._caller.bodies
        pod = bodies.pod(question.appearance)
        if self.extender.node_cache_capable:
            return wire.request_with_names(pod, question.nodes)
        return wire.request_with_nodes(pod, map(bodies.node, question.nodes))

    def _answer(self, outcome: bytes | HttpFault) -> Filtered | Failed:
        match outcome:
            case Refused(status=status):
                verb, url = self.extender.filter_verb, address(self.extender)
                return Failed(text=f"failed {verb} with extender at URL {url}, code {status}")
            case HttpFault():
                return Failed(text=str(outcome))
            case _:
                return self._read(outcome)

    def _read(self, data: bytes) -> Filtered | Failed:
        try:
            answer = wire.read_answer(data, by_name=self.extender.node_cache_capable)
        except wire.MalformedAnswer as fault:
            return Failed(text=f'Post "{address(self.extender)}": {fault}')
        if answer.error:
            return Failed(text=answer.error, is_answer=True)
        return Filtered(kept=answer.kept, failed=answer.failed, unresolvable=answer.unresolvable)


def address(extender: Extender) -> str:
    """Return where the extender filters."""
    return f"{extender.url_prefix.rstrip('/')}/{extender.filter_verb}"


def server(index: int, extender: Extender, given: Given, *, allowed: Calls) -> Server:
    """Return how the extender at this place of the configuration is reached.

    Raises InvalidDocument for TLS settings that cannot work, or may not.
    """
    if allowed.is_strict_tls and is_unchecked(extender):
        reason = f"{_UNCHECKED} That is refused (--extender-strict-tls); {_REMEDY}"
        raise given.origin.fault(("extenders", index, "enableHTTPS"), reason)
    is_secure = extender.url_prefix.startswith("https://")
    settings = _settings(extender)
    try:
        context = client_context(settings) if is_secure or settings.insecure else None
    except Unusable as fault:
        path = ("extenders", index, "tlsConfig", fault.field)
        raise given.origin.fault(path, f"The extender cannot be called: {fault.why}") from fault
    return Server(url=address(extender), tls=context, name=settings.server_name)


def unchecked(index: int, given: Given) -> Problem:
    """Return the warning about a server whose certificate is not checked."""
    return Problem(
        source=given.origin.label,
        object=SCHEDULER_KIND,
        field=f"extenders[{index}].enableHTTPS",
        message=f"{_UNCHECKED} {_REMEDY[0].upper()}{_REMEDY[1:]}",
    )


_UNCHECKED = (
    "The server's certificate is not checked, because enableHTTPS is set and there is no CA: "
    "kube-scheduler does the same."
)
_REMEDY = "give the CA in tlsConfig (caFile or caData)."


def is_unchecked(extender: Extender) -> bool:
    """Return whether a missing CA lets any server pass for the extender."""
    return (
        extender.enable_https
        and not _has_ca(extender.tls_config)
        and extender.url_prefix.startswith("https://")
    )


def _settings(extender: Extender) -> ExtenderTLSConfig:
    settings = extender.tls_config or ExtenderTLSConfig()
    if extender.enable_https and not _has_ca(settings):
        return replace(settings, insecure=True)
    return settings


def _has_ca(settings: ExtenderTLSConfig | None) -> bool:
    return settings is not None and bool(settings.ca_data or settings.ca_file)
