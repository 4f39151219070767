"""The one query of a metric for all of its workloads, and what its answer comes to.

An answer tells when it was evaluated, and not when a sample was taken. So the query has two parts for each
name: the samples, and their times under a label of our own; both are of the same moment.
"""

from collections.abc import Generator, Iterable
from typing import Final

from springtide.edge.prometheus import Element, Vector
from springtide.engine.metrics import Metric, Sample, Table, steps_to_table

MARK: Final = "springtide_series"
STEP_ELEMENTS: Final = 1000
_NAME: Final = "__name__"

_Key = frozenset[tuple[str, str]]


def query_of(metric: Metric) -> str:
    """Return the query."""
    return " or ".join(timed(name, f"{name}{{{_matchers(metric)}}}") for name in metric.series)


def timed(name: str, chosen: str) -> str:
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


def _matchers(metric: Metric) -> str:
    labels = dict.fromkeys([*metric.required, metric.namespace_label])
    return ",".join(f'{each}!=""' for each in labels if each)


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
