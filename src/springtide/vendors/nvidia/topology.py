"""Which of the acceptable cards belong together, by the node's pair scores.

A single card is taken where it is linked worst, so that good pairs stay whole; several cards are the
combination with the highest sum of scores. Among equals the first in the order of the walk wins. Of
candidates that are one and the same card the first ones are taken, so that nothing is tried twice.
"""

from collections.abc import Sequence

Scores = Sequence[Sequence[int]]
"""`scores[a][b]`: how well candidate a is linked towards candidate b."""


def chosen(scores: Scores, count: int, *, alike: Sequence[bool] = ()) -> list[int]:
    """Return which candidates to take, ascending; there are at least `count` of them.

    `alike` says of each candidate whether it is the same card as the one before it.
    """
    if len(scores) == count:
        return list(range(count))
    if count == 1:
        return [_loneliest(scores)]
    return _Search(scores, count, alike or [False] * len(scores)).best()


def _loneliest(scores: Scores) -> int:
    sums = [sum(row) - row[position] for position, row in enumerate(scores)]
    return sums.index(min(sums))


class _Search:
    """The first combination, in lexicographic order, with the highest sum.

    The walk is depth first with sums carried along, and leaves a branch when even the best scores
    for every missing pair could not beat the best sum so far.
    """

    def __init__(self, scores: Scores, count: int, alike: Sequence[bool]) -> None:
        self._scores = scores
        self._alike = alike
        self._count = count
        self._pairs = count * (count - 1) // 2
        self._highest = max(
            max((value for other, value in enumerate(row) if other != position), default=0)
            for position, row in enumerate(scores)
        )
        self._found: list[int] = []
        self._sum: int | None = None

    def best(self) -> list[int]:
        """Return the best combination."""
        self._extend([], total=0)
        return self._found

    def _extend(self, picked: list[int], *, total: int) -> None:
        if len(picked) == self._count:
            # Whatever gets here beats the best so far: nothing else was followed.
            self._found, self._sum = list(picked), total
            return
        missing = self._count - len(picked)
        start = picked[-1] + 1 if picked else 0
        for candidate in range(start, len(self._scores) - missing + 1):
            if self._alike[candidate] and candidate > start:
                # Its twin before it has just been tried in this place, with all that follows.
                continue
            grown = total + sum(self._scores[other][candidate] for other in picked)
            if self._can_beat(grown, size=len(picked) + 1):
                picked.append(candidate)
                self._extend(picked, total=grown)
                picked.pop()

    def _can_beat(self, total: int, *, size: int) -> bool:
        missing_pairs = self._pairs - size * (size - 1) // 2
        return self._sum is None or total + missing_pairs * self._highest > self._sum
