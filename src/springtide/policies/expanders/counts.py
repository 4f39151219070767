"""Expanders that count: most pods helped, fewest nodes added."""

from collections.abc import Sequence

from springtide.engine.capacity.options import Judgement, Option


class MostPods:
    """Keeps the options that let the most pods run."""

    name = "most-pods"

    def judge(self, options: Sequence[Option]) -> list[Judgement]:
        """Return a judgement for every option."""
        counts = [len(option.estimate.placed) for option in options]
        return [
            Judgement(option, count == max(counts), f"lets {_plural(count, 'pod')} run")
            for option, count in zip(options, counts, strict=True)
        ]


class LeastNodes:
    """Keeps the options that add the fewest nodes."""

    name = "least-nodes"

    def judge(self, options: Sequence[Option]) -> list[Judgement]:
        """Return a judgement for every option; one that adds none is not an option."""
        counts = [option.node_count for option in options]
        least = min((count for count in counts if count > 0), default=0)
        return [
            Judgement(option, 0 < count == least, f"adds {_plural(count, 'node')}")
            for option, count in zip(options, counts, strict=True)
        ]


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
