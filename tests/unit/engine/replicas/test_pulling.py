"""When a metric is asked for again: each 20 s, and 5 s after a fault that may pass."""

import pytest

from springtide.engine.replicas.pulling import next_pull_ms, received_ago_ms_max
from springtide.engine.replicas.verdicts import Circumstance, judge
from springtide.model.replicas.answer import Answer, Refused, Unreachable
from springtide.model.replicas.policy import Policy
from springtide.model.replicas.settings import PullSettings

PULL = PullSettings(interval_ms=20_000, retry_ms=5_000)
LATE = Unreachable("no answer within 10 s")
TIMES = {
    "Z-6": (Refused(kind="execution", message="m"), 500, 20_000),
    "Z-12": (LATE, 500, 5_000),
    "at the soonest": (LATE, 0, 4_000),
    "at the latest": (LATE, 1000, 6_000),
}


@pytest.mark.parametrize(("answer", "drawn_permille", "at_ms"), TIMES.values(), ids=TIMES)
def test_a_metric_is_asked_for_again(answer: Answer, drawn_permille: int, at_ms: int) -> None:
    judged = judge(Policy(name="x"), answer, Circumstance(now_ms=0, members_expected=1))

    assert next_pull_ms(PULL, judged, now_ms=0, drawn_permille=drawn_permille) == at_ms


def test_an_answer_counts_for_two_pulls_and_a_time_out() -> None:
    assert received_ago_ms_max(PULL) == 50_000
