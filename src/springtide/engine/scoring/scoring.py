"""All score plugins of a profile together: what each says of every row, and the best row.

Scores are for rows that the pod fits on; among other rows they mean nothing. A plugin that has
nothing to say does not count. kube-scheduler breaks ties by chance; here it is the first row,
unless a source of chance is given.
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec
import numpy as np

from springtide.base.clock import Rng
from springtide.engine.framework.rule import Broken, Rows, Selection, selection
from springtide.engine.scoring.ask import ScoreAsk
from springtide.engine.scoring.balanced_allocation import BalancedAllocation
from springtide.engine.scoring.config import ScoringConfig
from springtide.engine.scoring.image_locality import ImageLocality
from springtide.engine.scoring.inter_pod_affinity import InterPodAffinity
from springtide.engine.scoring.node_affinity import NodeAffinity
from springtide.engine.scoring.node_resources_fit import NodeResourcesFit
from springtide.engine.scoring.pod_topology_spread import PodTopologySpread
from springtide.engine.scoring.scorer import Answer, Scored, Scorer, Unscored, as_is
from springtide.engine.scoring.taint_toleration import TaintToleration
from springtide.engine.scoring.volume_binding import VolumeBinding
from springtide.model.columns import Int64
from springtide.model.ledger import Ledger
from springtide.model.storage import Storage

EXTENDER_SCALE: Final = 10
"""Extenders score from 0 to 10."""
NEEDS_PREPARATION: Final = frozenset({"TaintToleration", "PodTopologySpread", "InterPodAffinity"})
"""Plugins that fail where their PreScore did not run."""


class PluginScores(msgspec.Struct, frozen=True, kw_only=True):
    """What one plugin says of the rows, in their order."""

    name: str
    weight: int
    raw: Int64
    normalised: Int64


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """What all plugins say; `totals` adds up the normalised scores by weight.

    With an `error` nothing was scored, totals are empty, and kube-scheduler gives up the attempt.
    """

    rows: Rows
    totals: Int64
    plugins: tuple[PluginScores, ...] = ()
    skipped: tuple[str, ...] = ()
    error: str = ""

    def best(self, rng: Rng | None = None) -> int:
        """Return the row with the highest total, of several the first or one by chance."""
        assert not self.error, "nothing was scored"
        assert len(self.rows), "there is nothing to choose from"
        best = np.flatnonzero(self.totals == self.totals.max())
        return int(self.rows[best[0 if rng is None else rng.choice_index(len(best))]])

    def with_extender(self, given: Int64, *, weight: int) -> "Scores":
        """Return the scores with what an extender gives each row, from 0 to 10."""
        return msgspec.structs.replace(self, totals=self.totals + given * weight * EXTENDER_SCALE)


class Scoring:
    """The score plugins of one scheduler profile, for asks about one ledger after the other.

    Without `storage` nothing is known of claims. `others` are scorers that take the place of the
    plugins of these names.
    """

    def __init__(
        self,
        config: ScoringConfig | None = None,
        storage: Storage | None = None,
        *,
        others: Mapping[str, Scorer] | None = None,
    ) -> None:
        config = config or ScoringConfig()
        built = {name: make(config, storage) for name, make in _SCORERS.items()}
        table = {**built, **(others or {})}
        self._prepared = config.prepared
        self._weights = dict(config.weights)
        self._scorers = [
            table[name] for name in dict.fromkeys((*(config.prepared or ()), *self._weights))
        ]

    def score(self, ask: ScoreAsk, ledger: Ledger, rows: Rows) -> Scores:
        """Return how well the pod would do on each of these rows, all of which it fits."""
        selected = selection(rows)
        found: list[PluginScores] = []
        skipped: list[str] = []
        totals: Int64 = np.zeros(len(rows), np.int64)
        for scorer in self._scorers:
            # A plugin without a weight is prepared all the same, and can fail.
            weight = self._weights.get(scorer.name)
            match self._answer(scorer, ask, ledger, selected):
                case Scored(raw=raw, normalised=normalised) if weight is not None:
                    totals += weight * normalised
                    found.append(
                        PluginScores(
                            name=scorer.name, weight=weight, raw=raw, normalised=normalised
                        )
                    )
                case Broken(message=message):
                    return Scores(rows=rows, totals=totals[:0], error=message)
                case Unscored():
                    skipped.append(scorer.name)
                case Scored():
                    pass
        return Scores(rows=rows, totals=totals, plugins=tuple(found), skipped=tuple(skipped))

    def _answer(self, scorer: Scorer, ask: ScoreAsk, ledger: Ledger, selected: Selection) -> Answer:
        name = scorer.name
        is_prepared = self._prepared is None or name in self._prepared
        if not is_prepared and name in NEEDS_PREPARATION:
            reason = f'reading "PreScore{name}" from cycleState: not found'
            return Broken(f'running Score plugin "{name}": {reason}')
        answer = scorer.score(ask, ledger, selected)
        if isinstance(answer, Broken):
            return Broken(f'running PreScore plugin "{name}": {answer.message}')
        return answer


class _Indifferent:
    """A plugin that finds all rows alike."""

    def __init__(self, name: str) -> None:
        self.name = name

    def score(self, ask: ScoreAsk, ledger: Ledger, selected: Selection) -> Answer:
        return as_is(np.zeros(len(selected.rows), np.int64))


_SCORERS: Final[Mapping[str, Callable[[ScoringConfig, Storage | None], Scorer]]] = {
    "TaintToleration": lambda _config, _storage: TaintToleration(),
    "NodeAffinity": lambda config, _storage: NodeAffinity(config.preferred_nodes),
    "NodeResourcesFit": lambda config, _storage: NodeResourcesFit(config.strategy),
    "VolumeBinding": lambda config, storage: VolumeBinding(config.storage_shape, storage),
    "PodTopologySpread": lambda config, _storage: PodTopologySpread(
        config.default_spread, is_lenient=config.is_system_spread
    ),
    "InterPodAffinity": lambda config, _storage: InterPodAffinity(
        required_weight=config.required_affinity_weight,
        ignores_others=config.ignores_preferences_of_others,
    ),
    # Pods with resource claims are scored by whoever evaluates claims, see `others`.
    "DynamicResources": lambda _config, _storage: _Indifferent("DynamicResources"),
    "NodeResourcesBalancedAllocation": lambda config, _storage: BalancedAllocation(config.balanced),
    "ImageLocality": lambda _config, _storage: ImageLocality(),
}
