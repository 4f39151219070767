"""When to ask for a metric again: after a fault that may pass, soon; otherwise at its usual time.

The shorter time is spread by a draw, so that many members do not ask at once.
"""

from typing import Final

from springtide.engine.replicas.verdicts import Judged, is_soon_again
from springtide.model.replicas.settings import PullSettings

PERMILLE: Final = 1000
SPREAD_PERMILLE: Final = 200
"""A retry comes up to so much sooner or later."""
PULLS_MISSED: Final = 2


def next_pull_ms(pull: PullSettings, judged: Judged, *, now_ms: int, drawn_permille: int) -> int:
    """Return when to ask again; `drawn_permille` is from 0 to 1000, evenly."""
    assert 0 <= drawn_permille <= PERMILLE
    if not is_soon_again(judged.down):
        return now_ms + pull.interval_ms
    spread_permille = PERMILLE - SPREAD_PERMILLE + 2 * SPREAD_PERMILLE * drawn_permille // PERMILLE
    return now_ms + min(pull.retry_ms * spread_permille // PERMILLE, pull.interval_ms)


def received_ago_ms_max(pull: PullSettings) -> int:
    """Return for how long an answer may count after it came."""
    return PULLS_MISSED * pull.interval_ms + pull.timeout_ms
