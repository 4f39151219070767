"""The query of a metric for all of its workloads, or for one, and what its answer comes to.

An answer tells when it was evaluated, and not when a sample was taken. So the query has two parts for each
name: the samples, and their times under a label of our own; both are of the same moment.
"""

from collections.abc import Generator, Iterable, Sequence
from typing import Final

from springtide.edge.prometheus import Element, Vector
from springtide.engine.metrics import Metric, Place, Sample, Table, steps_to_table
from springtide.engine.replicas.selectors import selector
from springtide.model.replicas.matcher import Matcher, MatchOperator

MARK: Final = "springtide_series"
STEP_ELEMENTS: Final = 1000
_NAME: Final = "__name__"

_Key = frozenset[tuple[str, str]]


def query_of(metric: Metric, place: Place | None = None) -> str:
    """Return the query, for one place where one is given."""
    return query(metric.series, _matchers(metric, place))


def query(series: Iterable[str], matchers: Sequence[Matcher]) -> str:
    """Return the query of the samples that match, by whichever of these names."""
    return " or ".join(_timed(name, selector(name, matchers)) for name in series)


def _timed(name: str, chosen: str) -> str:
    """Return what asks for the samples that a selector chooses, and for their times."""
    return f'{chosen} or label_replace(timestamp({chosen}), "{MARK}", "{name}", "", "")'


def steps_to_samples(
    metric: Metric, vector: Vector, *, unix_s: float, seen_s: float
) -> Generator[None, None, Table]:
    """Make the table of an answer, and yield now and then; `unix_s` counts where it has no time."""
    marked = [each for each in vector.elements if MARK in each.metric]
    plain = [each for each in vector.elements if MARK not in each.metric]
    names = tuple(sorted({each.metric[MARK] for each in marked}))
    evaluated_s = vector.elements[0].value[0] if vector.elements else unix_s
    times: dict[_Key, float] = {}
    for begun in range(0, len(marked), STEP_ELEMENTS):
        times.update(_times(marked[begun : begun + STEP_ELEMENTS]))
        yield
    samples: list[Sample] = []
    for begun in range(0, len(plain), STEP_ELEMENTS):
        samples += _samples(plain[begun : begun + STEP_ELEMENTS], times)
        yield
    return (
        yield from steps_to_table(
            metric,
            samples,
            names=names,
            unix_s=evaluated_s,
            seen_s=seen_s,
            is_partial=bool(vector.warnings),
        )
    )


def _matchers(metric: Metric, place: Place | None) -> list[Matcher]:
    labels = metric.place_labels
    if place is None:
        return [Matcher(label=each, value="", operator=MatchOperator.NOT_EQUAL) for each in labels]
    bound = zip(labels, place, strict=True)
    return [Matcher(label=label, value=value) for label, value in bound]


def _times(elements: Iterable[Element]) -> Generator[tuple[_Key, float], None, None]:
    for each in elements:
        del each.metric[MARK]
        yield frozenset(each.metric.items()), float(each.value[1])


def _samples(
    elements: Iterable[Element], times: dict[_Key, float]
) -> Generator[Sample, None, None]:
    for each in elements:
        each.metric.pop(_NAME, None)
        taken_s = times.get(frozenset(each.metric.items()))
        # Without a time of its own it may be of any age.
        if taken_s is not None:
            yield Sample(labels=each.metric, text=each.value[1], unix_s=taken_s)
