"""Law of leadership: with one lock that runs out, no two members lead at one time."""

from hypothesis import given
from hypothesis import strategies as st

from springtide.engine.replicas.leadership import (
    Command,
    Event,
    Leadership,
    LockSeen,
    NotWon,
    Pulled,
    ReleaseLock,
    Renewed,
    StandingSeen,
    Terms,
    Tick,
    TryLock,
    Won,
    step,
)

TERMS = Terms(ttl_ms=15_000, safety_ms=5_000, pull_interval_ms=3_000)
MEMBERS = 3
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["look", "look", "renew", "pull", "stop", "start"]),
        st.integers(0, MEMBERS - 1),
        st.integers(0, 4_000),
    ),
    max_size=60,
)


class Fleet:
    """Members and a lock that frees itself when nobody renews it."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.members = [Leadership() for _ in range(MEMBERS)]
        self.holder: int | None = None
        self.token = 0
        self.ends_ms = 0

    def tell(self, at: int, event: Event) -> None:
        """Tell a member, and do at once what it asks of the lock."""
        self.members[at], commands = step(TERMS, self.members[at], event)
        for command in commands:
            self._perform(at, command)

    def renew(self, at: int) -> None:
        """Renew the lock for whoever holds it."""
        if self.members[at].holds_lock and self.holder == at and self.now_ms < self.ends_ms:
            self.ends_ms = self.now_ms + TERMS.ttl_ms
            self.tell(at, Renewed(asked_ms=self.now_ms, cause="lock"))

    @property
    def is_free(self) -> bool:
        """Whether the lock can be taken."""
        return self.holder is None or self.now_ms >= self.ends_ms

    def _perform(self, at: int, command: Command) -> None:
        match command:
            case TryLock() if self.is_free:
                self.holder, self.token = at, self.token + 1
                self.ends_ms = self.now_ms + TERMS.ttl_ms
                now_ms = self.now_ms
                self.tell(at, Won(token=self.token, asked_ms=now_ms, now_ms=now_ms, cause="lock"))
            case TryLock():
                self.tell(at, NotWon(cause="lock"))
            case ReleaseLock(token=token) if self.holder == at and token == self.token:
                self.holder = None
            case _:
                pass


@given(STEPS)
def test_no_two_members_lead_at_one_time(steps: list[tuple[str, int, int]]) -> None:
    """Covers R-55 in part."""
    fleet = Fleet()

    for kind, at, gap_ms in steps:
        fleet.now_ms += gap_ms
        now_ms = fleet.now_ms
        for each in range(MEMBERS):
            fleet.tell(each, Tick(now_ms=now_ms, cause="clock"))
        match kind:
            case "look":
                fleet.tell(at, LockSeen(is_free=fleet.is_free, now_ms=now_ms, cause="watch"))
            case "renew":
                fleet.renew(at)
            case "pull":
                fleet.tell(at, Pulled(now_ms=now_ms, cause="pull"))
            case _:
                is_eligible = kind == "start"
                standing = StandingSeen(
                    is_eligible=is_eligible, place=at, now_ms=now_ms, cause="members"
                )
                fleet.tell(at, standing)

        leading = [index for index, each in enumerate(fleet.members) if each.holds_lock]
        assert len(leading) <= 1
        assert not leading or leading == [fleet.holder]
