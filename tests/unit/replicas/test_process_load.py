"""A processor that is said to be busier than it is, for drills."""

import pytest

from springtide.replicas.process_load import FAKE_PERMILLE_MAX, FAKE_S, FAKE_S_MAX, ProcessLoad
from tests.member_exports import EXPORT_S, Hand, Scraped, Used


def busy(hand: Hand, *, permille: int) -> ProcessLoad:
    """Return the load of a process that has used so much for one export interval."""
    used = Used()
    load = ProcessLoad(used, hand, export_interval_s=EXPORT_S)
    hand.passed_s = EXPORT_S
    used.processor = EXPORT_S * permille / 1000
    assert load.cpu_permillage() == permille
    return load


def test_a_faked_processor_is_shown_at_once_and_only_for_a_while() -> None:
    hand = Hand()
    load = busy(hand, permille=200)
    load.fake_cpu(300)

    at_once = load.cpu_permillage()
    hand.passed_s += 8
    later = load.cpu_permillage()
    hand.passed_s += FAKE_S
    afterwards = load.cpu_permillage()

    assert (at_once, later) == (500, 500)
    assert afterwards == 0


def test_less_than_nothing_is_never_used() -> None:
    load = busy(Hand(), permille=200)

    load.fake_cpu(-500)

    assert load.cpu_permillage() == 0


def test_no_time_at_all_ends_it() -> None:
    load = busy(Hand(), permille=200)
    load.fake_cpu(300)

    load.fake_cpu(0, for_s=0)

    assert load.cpu_permillage() == 200


def test_only_the_processor_is_faked() -> None:
    load = busy(Hand(), permille=200)

    load.fake_cpu(300)

    assert load.main_thread_permillage() == 0


def test_a_faked_processor_is_exported() -> None:
    scraped = Scraped()
    load = scraped.exported.load
    assert load is not None

    load.process.fake_cpu(700)

    assert scraped.value("hpa_rule_cpu_permillage") == 700


@pytest.mark.parametrize(
    ("permillage", "for_s", "field"),
    [
        (FAKE_PERMILLE_MAX + 1, 1.0, "permillage: "),
        (100, FAKE_S_MAX + 1, "for_s: "),
        (100, -1.0, "for_s: "),
        (100, float("nan"), "for_s: "),
    ],
)
def test_what_cannot_be_is_refused(permillage: int, for_s: float, field: str) -> None:
    load = ProcessLoad(Used(), Hand(), export_interval_s=EXPORT_S)

    with pytest.raises(ValueError, match=field):
        load.fake_cpu(permillage, for_s=for_s)

    assert load.cpu_permillage() is None
