"""What a metrics adapter answers an autoscaler, from what a monitoring system has of all workloads at once.

`records` are metrics, samples and workloads, `table` finds the samples of one workload among all, `answering`
decides. A number moves pods, an error makes the autoscaler hold: where anything is in doubt, the answer is a
refusal with its reason.
"""

from springtide.engine.metrics.answering import answer
from springtide.engine.metrics.asking import Asked, read_asked
from springtide.engine.metrics.reasons import AnswerReason, Refused
from springtide.engine.metrics.records import (
    Aggregator,
    Answered,
    Metric,
    Role,
    Sample,
    Workload,
)
from springtide.engine.metrics.table import Place, Table, steps_to_table

__all__ = [
    "Aggregator",
    "AnswerReason",
    "Answered",
    "Asked",
    "Metric",
    "Place",
    "Refused",
    "Role",
    "Sample",
    "Table",
    "Workload",
    "answer",
    "read_asked",
    "steps_to_table",
]
