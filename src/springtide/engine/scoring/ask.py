"""What scores are asked: a pod as the filters see it, and what it would like beside."""

import msgspec
from msgspec.structs import replace

from springtide.base.selectors import Selector
from springtide.engine.framework.ask import PodAsk, ask_of
from springtide.model.pod import Pod
from springtide.model.preferences import INDIFFERENT, Preferences


class ScoreAsk(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """One pod as scores see it. `framework` has the pod's namespace and labels."""

    framework: PodAsk
    preferences: Preferences = INDIFFERENT


def score_ask_of(pod: Pod, default_selector: Selector | None = None) -> ScoreAsk:
    """Return what scores are asked about the pod; the selector is for spreading by default."""
    asked = ask_of(pod, with_identity=True)
    if default_selector is not None:
        asked = replace(asked, default_selector=default_selector)
    return ScoreAsk(framework=asked, preferences=pod.preferences)
