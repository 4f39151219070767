"""Random: any of the options, decided by the given source of chance."""

from collections.abc import Sequence

from springtide.base.clock import Rng
from springtide.engine.capacity.options import Judgement, Option


class Random:
    """Keeps one option, each with the same chance."""

    name = "random"

    def __init__(self, rng: Rng) -> None:
        self._rng = rng

    def judge(self, options: Sequence[Option]) -> list[Judgement]:
        """Return a judgement for every option."""
        drawn = self._rng.choice_index(len(options))
        return [
            Judgement(option, index == drawn, "drawn" if index == drawn else "not drawn")
            for index, option in enumerate(options)
        ]
