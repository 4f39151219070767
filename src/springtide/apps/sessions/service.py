"""The calls of the simulation service, from the bytes of a body to a reply.

It holds the sessions and nothing else, reads no clock and starts nothing: who serves it tells it who calls
and when, makes up the names of sessions, and bounds bodies, rates and deadlines.
"""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from springtide.apps.sessions import changes
from springtide.apps.sessions.estimating import estimated
from springtide.apps.sessions.filtering import FilterAnswer, filter_simulation
from springtide.apps.sessions.reading import Reading
from springtide.apps.sessions.replies import (
    INVALID,
    NOTHING,
    Reply,
    Tally,
    answered,
    problem,
    refused,
)
from springtide.apps.sessions.rules import Rules
from springtide.base.clock import Clock
from springtide.engine.simulation.errors import SimulationFault
from springtide.engine.simulation.sessions import Change, Lease, Sessions
from springtide.wire.errors import DocumentFault
from springtide.wire.extender.walking import Buffer
from springtide.wire.simulation import calls
from springtide.wire.simulation.answers import EvaluationAnswer, SessionAnswer, SessionContent
from springtide.wire.simulation.calls import CallT, DynamicFields, read_body

DRY: Final = "evaluate"


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """When a call comes: by a clock that never jumps, and by the calendar."""

    elapsed_s: float
    unix_s: float


class Service:
    """Answers every call of every client."""

    def __init__(self, rules: Rules, clock: Clock) -> None:
        """Go by these rules; the clock bounds how long an estimate may search."""
        self.rules = rules
        self.sessions = Sessions(rules.bounds)
        self._clock = clock
        self._reading = Reading(rules.bounds)

    def filter(self, body: Buffer, *, keeps_dynamic: bool = False) -> FilterAnswer:
        """Answer `/filter-simulation`."""
        return filter_simulation(body, self.rules, keeps_dynamic=keeps_dynamic)

    def open(self, client: str, name: str, body: Buffer, at: Moment) -> Reply:
        """Answer `POST /v1/sessions`; `name` is the session's, should it be opened."""
        return _told(lambda: self._open(client, name, body, at))

    def call(self, client: str, name: str, verb: str, body: Buffer, at: Moment) -> Reply:
        """Answer `POST /v1/sessions/{name}:{verb}`."""
        if verb != DRY and verb not in changes.VERBS:
            known = ", ".join((DRY, *changes.VERBS))
            return problem(INVALID, f"sessions have no call {verb}; there are {known}")
        return _told(lambda: self._call(client, name, verb, body, at))

    def content(self, client: str, name: str, at: Moment) -> Reply:
        """Answer `GET /v1/sessions/{name}`, which does not renew the lease."""
        return _told(lambda: self._content(client, name, at))

    def close(self, client: str, name: str, at: Moment) -> Reply:
        """Answer `DELETE /v1/sessions/{name}`."""

        def closed() -> Reply:
            self.sessions.close(client, name, now_s=at.elapsed_s)
            return Reply(body=b"", status=204)

        return _told(closed)

    def estimate(self, body: Buffer) -> Reply:
        """Answer `POST /v1/estimate`."""

        def made() -> Reply:
            call = read_body(body, calls.Estimate)
            answer = estimated(call, self.rules, self._reading, self._clock)
            pods = sum(each.count for each in call.pods)
            return answered(answer, tally=Tally(pods=pods, nodes=len(call.templates)))

        return _told(made)

    def _open(self, client: str, name: str, body: Buffer, at: Moment) -> Reply:
        call = read_body(body, calls.OpenSession)
        nodes = self._reading.nodes(call.nodes, call.copies)
        bounds = self.rules.bounds

        def made(lease: Lease) -> bytes:
            self.sessions.must_have_room(len(nodes))
            lease.session.add(nodes)
            return msgspec.json.encode(SessionAnswer(**standing(lease, lease.revision, at)))

        opened = self.sessions.open(
            client,
            name,
            Change(operation=call.operation_id, digest=digest("open", call)),
            made,
            sight=self.rules.sight(keeps_dynamic=call.dynamic_fields is DynamicFields.KEEP),
            lease_s=min(call.lease_seconds or bounds.lease_s, bounds.lease_s_max),
            now_s=at.elapsed_s,
        )
        return Reply(body=opened, status=201, tally=Tally(nodes=len(nodes)))

    def _call(self, client: str, name: str, verb: str, body: Buffer, at: Moment) -> Reply:
        lease = self.sessions.find(client, name, now_s=at.elapsed_s)
        if verb == DRY:
            return self._evaluate(lease, read_body(body, calls.Evaluate), at)
        call = read_body(body, changes.VERBS[verb])
        change = Change(
            operation=call.operation_id,
            digest=digest(verb, call),
            if_revision=call.if_revision,
        )

        tally = NOTHING

        def made(revision: int) -> bytes:
            nonlocal tally
            answer = changes.changed(
                lease.session, verb, call, self._reading, self.sessions.must_have_room
            )
            tally = changes.tally(answer)
            fields = standing(lease, revision, at)
            return msgspec.json.encode(answer.kind(**fields, **answer.fields))

        body = lease.change(change, made)
        return Reply(body=body, tally=tally)

    def _evaluate(self, lease: Lease, call: calls.Evaluate, at: Moment) -> Reply:
        pods = self._reading.pods(call.pods)
        evaluations = tuple(
            changes.evaluated(lease.session, pod, call.nodes, allocations=call.allocations)
            for pod in pods
        )
        return answered(
            EvaluationAnswer(
                id=lease.name,
                revision=lease.revision,
                expires_at=expiry(lease, at),
                evaluations=evaluations,
            ),
            tally=changes.evaluation_tally(evaluations),
        )

    def _content(self, client: str, name: str, at: Moment) -> Reply:
        lease = self.sessions.find(client, name, now_s=at.elapsed_s, renews=False)
        content = changes.contents(lease.session)
        return answered(SessionContent(**standing(lease, lease.revision, at), content=content))


def digest(verb: str, call: CallT) -> bytes:
    """Return what tells a call from another one."""
    return hashlib.sha256(verb.encode() + b" " + msgspec.json.encode(call)).digest()


def standing(lease: Lease, revision: int, at: Moment) -> dict[str, Any]:
    """Return what every answer about a session says first."""
    session = lease.session
    return {
        "id": lease.name,
        "revision": revision,
        "expires_at": expiry(lease, at),
        "nodes": session.node_count,
        "pods": session.pod_count,
        "forks": session.levels,
    }


def expiry(lease: Lease, at: Moment) -> str:
    """Return when the lease runs out, unless it is renewed."""
    ends = datetime.fromtimestamp(at.unix_s + lease.ends_s - at.elapsed_s, UTC)
    return ends.strftime("%Y-%m-%dT%H:%M:%SZ")


def _told(answer: Callable[[], Reply]) -> Reply:
    try:
        return answer()
    except (SimulationFault, DocumentFault) as fault:
        return refused(fault)
