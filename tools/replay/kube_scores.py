"""Recorded kube-scheduler scores, compared with ours: every plugin's, and the total of each node.

Asked about are the nodes that fit according to the recording, so that scores are compared also
where a filter has a part that is not built. What devices of resource claims score is left to whoever
evaluates claims, and is taken from the recording.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import numpy as np

from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.profiles import set_up
from springtide.engine.framework.rule import Selection
from springtide.engine.scoring.ask import ScoreAsk
from springtide.engine.scoring.config import ScoringConfig
from springtide.engine.scoring.scorer import Answer, Scored
from springtide.engine.scoring.scoring import Scores, Scoring
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from springtide.model.storage import Storage
from springtide.wire.kubescheduler import CONSTRUCTION_FAULTS, from_json

Case = Mapping[str, Any]

DEVICES: Final = "DynamicResources"


def score_differences(
    case: Case, pod: Pod, ask: PodAsk, *, ledger: Ledger, storage: Storage
) -> list[str]:
    """Return where our scores differ from the recorded ones."""
    expected = case["expect"]
    # Among nodes of which nobody was asked there is nothing to compare.
    if not expected.keys() & {"scores", "score_error"}:
        return []
    names = [name for name in ledger.names if name in expected["feasible"]]
    scoring = Scoring(_config(case), storage, others={DEVICES: _Recorded(expected, names)})
    rows = np.array([ledger.rows[name] for name in names], np.intp)
    scored = scoring.score(ScoreAsk(framework=ask, preferences=pod.preferences), ledger, rows)
    ours, recorded = _shown(scored, names), _recorded(expected)
    return [
        f"{field}: recorded {recorded[field]!r}, ours {ours[field]!r}"
        for field in recorded
        if recorded[field] != ours[field]
    ]


def _config(case: Case) -> ScoringConfig:
    if "config" not in case:
        return ScoringConfig()
    configuration = from_json(msgspec.json.encode(case["config"]))
    (profile,) = set_up(configuration, CONSTRUCTION_FAULTS).profiles
    return profile.scoring


class _Recorded:
    name = DEVICES

    def __init__(self, expected: Case, names: list[str]) -> None:
        scores = expected.get("scores", {})
        self._scores = [scores.get(name, {}).get(DEVICES, {}) for name in names]

    def score(self, ask: ScoreAsk, ledger: Ledger, selected: Selection) -> Answer:
        raw, normalised = (
            np.array([each.get(field, 0) for each in self._scores], np.int64)
            for field in ("raw", "normalised")
        )
        return Scored(raw, normalised)


def _shown(scored: Scores, names: list[str]) -> dict[str, object]:
    return {
        "scores": {
            name: {
                each.name: {
                    "raw": int(each.raw[index]),
                    "normalised": int(each.normalised[index]),
                    "weight": each.weight,
                }
                for each in scored.plugins
            }
            for index, name in enumerate(names)
        }
        if not scored.error
        else {},
        "score_skipped": sorted(scored.skipped) if not scored.error else [],
        "score_error": scored.error,
        "totals": dict(zip(names, scored.totals.tolist(), strict=False)),
    }


def _recorded(expected: Case) -> dict[str, object]:
    return {
        "scores": expected.get("scores", {}),
        "score_skipped": sorted(expected.get("score_skipped", ())),
        "score_error": expected.get("score_error", ""),
        "totals": expected.get("totals", {}),
    }
