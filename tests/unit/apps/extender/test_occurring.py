"""Events on pods are told once a minute at most, and counted."""

from msgspec.structs import replace

from springtide.apps.extender.occurring import REMEMBERED_MAX, Occurrences
from springtide.engine.live import RecordEvent

EVENT = RecordEvent(
    uid="u", namespace="team", name="train", reason="FilteringFailed", message="why"
)
NOW_S = 1_767_225_600.0


def test_the_first_one_is_created() -> None:
    say = Occurrences("hami-scheduler").note(replace(EVENT, is_warning=True), now_s=NOW_S)

    assert say is not None
    assert say.is_new
    assert say.occurrence.name.startswith("train.")
    assert say.occurrence.first == say.occurrence.last == "2026-01-01T00:00:00Z"
    assert (say.occurrence.count, say.occurrence.is_warning) == (1, True)
    assert say.occurrence.component == "hami-scheduler"


def test_what_happens_again_within_a_minute_is_counted_and_told_later() -> None:
    occurrences = Occurrences("x")
    first = occurrences.note(EVENT, now_s=NOW_S)
    soon = [occurrences.note(EVENT, now_s=NOW_S + each) for each in (1, 30, 59)]

    later = occurrences.note(EVENT, now_s=NOW_S + 60)

    assert first is not None
    assert soon == [None, None, None]
    assert later is not None
    assert not later.is_new
    assert later.occurrence.name == first.occurrence.name
    assert (later.occurrence.count, later.occurrence.last) == (5, "2026-01-01T00:01:00Z")


def test_another_pod_reason_or_message_is_another_event() -> None:
    occurrences = Occurrences("x")
    others = [replace(EVENT, uid="v"), replace(EVENT, reason="r"), replace(EVENT, message="m")]

    said = [occurrences.note(each, now_s=NOW_S) for each in (EVENT, *others)]

    assert all(each is not None and each.is_new for each in said)
    assert len({each.occurrence.name for each in said if each is not None}) == 4


def test_what_is_remembered_is_bounded() -> None:
    occurrences = Occurrences("x")
    occurrences.note(EVENT, now_s=NOW_S)
    for each in range(REMEMBERED_MAX):
        occurrences.note(replace(EVENT, uid=str(each)), now_s=NOW_S)

    again = occurrences.note(EVENT, now_s=NOW_S)

    assert again is not None
    assert again.is_new
