"""Recorded kube-scheduler scores, compared with ours: every plugin's, and the total of each node.

Asked about are the nodes that fit according to the recording, so that scores are compared also
where they do not agree with ours.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec
import numpy as np

from springtide.engine.framework.ask import PodAsk
from springtide.engine.framework.framework import Framework
from springtide.engine.framework.profiles import set_up
from springtide.engine.scoring.ask import ScoreAsk
from springtide.engine.scoring.config import ScoringConfig
from springtide.engine.scoring.dynamic_resources import DynamicResources
from springtide.engine.scoring.scoring import Scores, Scoring
from springtide.model.ledger import Ledger
from springtide.model.pod import Pod
from springtide.model.storage import Storage
from springtide.wire.kubescheduler import CONSTRUCTION_FAULTS, from_json

Case = Mapping[str, Any]


class Scene(Protocol):
    """What a case amounts to, as the product has decoded it."""

    pod: Pod
    ask: PodAsk
    framework: Framework
    ledger: Ledger
    storage: Storage


def score_differences(case: Case, scene: Scene) -> list[str]:
    """Return where our scores differ from the recorded ones."""
    ledger = scene.ledger
    expected = case["expect"]
    # Among nodes of which nobody was asked there is nothing to compare.
    if not expected.keys() & {"scores", "score_error"}:
        return []
    names = [name for name in ledger.names if name in expected["feasible"]]
    devices = DynamicResources(scene.framework.device_rule)
    scoring = Scoring(_config(case), scene.storage, others={devices.name: devices})
    rows = np.array([ledger.rows[name] for name in names], np.intp)
    scored = scoring.score(
        ScoreAsk(framework=scene.ask, preferences=scene.pod.preferences), ledger, rows
    )
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
