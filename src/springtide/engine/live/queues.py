"""Binds under way: those of one node come one after the other, in the order in which they were asked for.

A node has one lock, so that of its binds one is at work and the others wait here, not in the
scheduler's backoff. When it has ended, the next one waits until the plugin has released the lock.
"""

from collections import deque
from typing import Final

from msgspec.structs import replace

from springtide.engine.live import binding
from springtide.engine.live.bind import Bind, Event, LockSeen, Phase, Rules, Step, TimePassed
from springtide.engine.live.commands import Command, Outcome
from springtide.engine.live.lock import Owner, is_own
from springtide.engine.live.stock import Stock

QUEUE_MAX: Final = 1024
"""Binds that wait for one node at the most."""

Ended = list[Bind]


class Queues:
    """All binds that have no answer yet."""

    def __init__(self, stock: Stock, rules: Rules) -> None:
        self._stock = stock
        self._rules = rules
        self._binds: dict[str, Bind] = {}
        self._lines: dict[str, deque[str]] = {}
        self._next: list[str] = []

    def __contains__(self, uid: str) -> bool:
        """Return whether a bind of this pod is under way."""
        return uid in self._binds

    def is_full(self, node: str) -> bool:
        """Return whether no further bind may wait for a node."""
        return len(self._lines.get(node, ())) >= QUEUE_MAX

    def begin(self, bind: Bind, *, now_s: float) -> tuple[list[Command], Ended]:
        """Begin a bind, now or when it is its turn."""
        assert bind.uid not in self._binds, bind.uid
        self._binds[bind.uid] = bind
        if not bind.locks:
            command = self._after(bind, binding.begin_without_lock(bind, now_s=now_s))
            return [command] if command else [], []
        line = self._lines.setdefault(bind.node, deque())
        line.append(bind.uid)
        if line[0] != bind.uid:
            self._let_owner_first(self._binds[line[0]])
            return self._feed(bind.uid, TimePassed(), now_s=now_s)
        return self._feed(bind.uid, self._lock_of(bind.node), now_s=now_s)

    def outcome(self, uid: str, outcome: Outcome, *, now_s: float) -> tuple[list[Command], Ended]:
        """Go on with a bind after what came of its command; of a bind that is given up nothing follows."""
        if uid not in self._binds:
            return [], []
        return self._feed(uid, outcome, now_s=now_s)

    def lock_seen(self, node: str, *, now_s: float) -> tuple[list[Command], Ended]:
        """Go on with the first bind of a node whose lock may have changed."""
        line = self._lines.get(node)
        if not line:
            return [], []
        return self._feed(line[0], self._lock_of(node), now_s=now_s)

    def pass_time(self, *, now_s: float) -> tuple[list[Command], Ended]:
        """Let time pass for everybody who waits."""
        waiting = [uid for uid, bind in self._binds.items() if bind.waits]
        return self._feed_all(waiting, now_s=now_s)

    def owner_gone(self, owner: Owner, *, now_s: float) -> tuple[list[Command], Ended]:
        """Go on with those who wait for the lock of a pod that has ended or is gone."""
        text = ",".join(owner)
        waiting = [
            bind.uid
            for bind in self._binds.values()
            if bind.phase is Phase.WAITING and bind.lock is not None and bind.lock.endswith(text)
        ]
        return self._feed_all(waiting, now_s=now_s)

    def cancel(self, uid: str) -> None:
        """Give up a bind without an answer; what it has locked is void after a while.

        The next one of its node begins when anything happens, time included.
        """
        bind = self._binds.pop(uid, None)
        if bind is not None:
            self._leave(bind)

    def pod_ended(self, uid: str, *, now_s: float) -> tuple[list[Command], Ended]:
        """End the bind of a pod that is gone, unless a command of its is under way and will fail."""
        bind = self._binds.get(uid)
        if bind is None or not bind.waits:
            return [], []
        ended = replace(bind, phase=Phase.ENDED, error=f'pod "{bind.name}" not found')
        self._after(bind, (ended, None))
        commands, others = self._feed_all([], now_s=now_s)
        return commands, [ended, *others]

    def _feed(self, uid: str, event: Event, *, now_s: float) -> tuple[list[Command], Ended]:
        """Let an event happen to a bind, and let those begin whose turn it is then."""
        return self._happened([(uid, event)], now_s=now_s)

    def _feed_all(self, uids: list[str], *, now_s: float) -> tuple[list[Command], Ended]:
        return self._happened([(uid, TimePassed()) for uid in uids], now_s=now_s)

    def _happened(
        self, events: list[tuple[str, Event]], *, now_s: float
    ) -> tuple[list[Command], Ended]:
        commands: list[Command] = []
        ended: Ended = []
        due = deque(events)
        while due or self._next:
            if self._next:
                node = self._next.pop()
                due.appendleft((self._lines[node][0], self._lock_of(node)))
            uid, event = due.popleft()
            before = self._binds.get(uid)
            if before is None:
                continue
            step = binding.step(before, event, self._rules, now_s=now_s)
            command = self._after(before, step)
            if command is not None:
                commands.append(command)
            if step[0].is_ended:
                ended.append(step[0])
        return commands, ended

    def _after(self, before: Bind, step: Step) -> Command | None:
        """Keep what a step has come to, and return what is to be done next."""
        bind, command = step
        self._note_lock(before, bind)
        if bind.is_ended:
            del self._binds[bind.uid]
            self._leave(bind)
        else:
            self._binds[bind.uid] = bind
            self._let_owner_first(bind)
        return command

    def _let_owner_first(self, bind: Bind) -> None:
        """Let the owner of the lock go before whoever waits for it, or both would wait for each other.

        Such a pod was locked for by a process that was killed, or by a bind that was given up.
        """
        line = self._lines.get(bind.node)
        if bind.phase is not Phase.WAITING or not line or line[0] != bind.uid:
            return
        owner = next((uid for uid in line if is_own(bind.lock, self._binds[uid].owner)), None)
        if owner is not None:
            line.remove(owner)
            line.appendleft(owner)
            self._binds[bind.uid] = replace(bind, phase=Phase.QUEUED)
            self._next.append(bind.node)

    def _leave(self, bind: Bind) -> None:
        """Take a bind out of its node's line; the next one begins if it was the first."""
        line = self._lines.get(bind.node)
        if line is None or bind.uid not in line:
            return
        was_first = line[0] == bind.uid
        line.remove(bind.uid)
        if not line:
            del self._lines[bind.node]
        elif was_first:
            self._next.append(bind.node)

    def _lock_of(self, node: str) -> LockSeen:
        known = self._stock.get(node)
        if known is None:
            return LockSeen(value=None, version="")
        return LockSeen(value=known.lock, version=known.version)

    def _note_lock(self, before: Bind, after: Bind) -> None:
        """Remember what a bind has learned of its node's lock, so that nobody has to read it again."""
        known = self._stock.get(after.node)
        if known is None:
            return
        if after.phase is Phase.READING:
            known.version = ""
        has_locked = before.phase is Phase.LOCKING and after.phase is Phase.MARKING
        has_released = before.phase is Phase.RELEASING and after.is_ended
        has_read = before.phase is Phase.READING and after.phase in {Phase.WAITING, Phase.PROBING}
        if has_locked or has_released or has_read:
            known.lock, known.version = after.lock, after.version
