"""Scoring a pod on a few nodes, for tests."""

from collections.abc import Mapping, Sequence

import numpy as np

from springtide.base import quantity
from springtide.engine.placement.classes import standing_holding
from springtide.engine.scoring.ask import score_ask_of
from springtide.engine.scoring.config import ScoringConfig
from springtide.engine.scoring.scorer import Answer
from springtide.engine.scoring.scoring import PluginScores, Scores, Scoring
from springtide.model.columns import Int64
from springtide.model.ledger import Ledger
from springtide.model.neighbours import ALONE, Neighbours
from springtide.model.node import HOSTNAME_LABEL, Image, Node
from springtide.model.pod import Container, Pod, PodSpec
from springtide.model.preferences import INDIFFERENT, Preferences
from springtide.model.presence import standing
from springtide.model.storage import Storage

Amounts = Mapping[str, str]


def node(
    name: str = "node",
    amounts: Amounts | None = None,
    *,
    labels: Mapping[str, str] | None = None,
    images: Mapping[str, int] | None = None,
) -> Node:
    """Return a node with these amounts of resources, and images by name with their sizes in MiB."""
    return Node(
        name=name,
        labels={HOSTNAME_LABEL: name} if labels is None else labels,
        allocatable=_quantities(amounts or {}),
        images=tuple(Image((name,), size * 2**20) for name, size in (images or {}).items()),
    )


def pod(
    *containers: Amounts,
    name: str = "pending",
    on: str = "",
    labels: Mapping[str, str] | None = None,
    neighbours: Neighbours = ALONE,
    preferences: Preferences = INDIFFERENT,
) -> Pod:
    """Return a pod whose containers ask for these amounts."""
    return Pod(
        namespace="default",
        name=name,
        uid=name,
        spec=PodSpec(
            containers=tuple(
                Container(name="any", requests=_quantities(amounts)) for amounts in containers
            ),
            neighbours=neighbours,
        ),
        labels=labels or {},
        node_name=on,
        preferences=preferences,
    )


def _quantities(amounts: Amounts) -> tuple[tuple[str, quantity.Quantity], ...]:
    return tuple((name, quantity.parse(text)) for name, text in sorted(amounts.items()))


def ledger_of(nodes: Sequence[Node], running: Sequence[Pod] = ()) -> Ledger:
    """Return a ledger of these nodes, with what the pods on them hold and whom they lean to."""
    ledger = Ledger()
    for each in nodes:
        ledger.add_node(each)
    for held in running:
        presence = standing(held, with_leanings=True)
        ledger.hold(standing_holding(held, ledger.rows[held.node_name], presence=presence))
    return ledger


def scores(
    pending: Pod,
    nodes: Sequence[Node],
    running: Sequence[Pod] = (),
    config: ScoringConfig | None = None,
    *,
    storage: Storage | None = None,
) -> Scores:
    """Return the scores of all nodes."""
    ledger = ledger_of(nodes, running)
    scoring = Scoring(config, storage)
    return scoring.score(score_ask_of(pending), ledger, np.arange(ledger.count))


def of_plugin(name: str, found: Scores) -> PluginScores:
    """Return what one plugin says."""
    (plugin,) = (each for each in found.plugins if each.name == name)
    return plugin


def values(column: Int64) -> list[int]:
    """Return a column as a list."""
    listed: list[int] = column.tolist()
    return listed


class Given:
    """A scorer that has made up its mind."""

    def __init__(self, name: str, answer: Answer) -> None:
        self.name = name
        self._answer = answer

    def score(self, *_: object) -> Answer:
        """Return the answer."""
        return self._answer
