"""What is made of a configuration document."""

from springtide.apps.executor.driver import Pace
from springtide.apps.executor.process import Settings
from springtide.apps.executor.prometheus import Sought
from springtide.engine.replicas.executing import ExecutionRules
from springtide.model.replicas.matcher import Matcher
from springtide.wire.crd.adapter import seconds
from springtide.wire.crd.executor import BY_INDEX, ExecutorDocument, PrometheusSourceEntry
from springtide.wire.origin import Origin

LOOK_S_MAX = 1.0
"""While something changes it is looked at least so often."""
STEADY_INTERVALS = 12
"""So many intervals without a wish that could be read, and what was wanted is unknown."""
_MS = 1000


def settings(document: ExecutorDocument, *, origin: Origin) -> Settings:
    """Return the settings that a document stands for."""
    (kind,) = document.executor.given
    interval_s = seconds(document.interval, ("interval",), origin=origin)
    return Settings(
        workload=document.workload,
        kind=kind,
        rules=_rules(document, origin),
        pace=Pace(interval_s=interval_s, look_s=min(LOOK_S_MAX, interval_s)),
        timeout_s=seconds(document.call_timeout, ("callTimeout",), origin=origin),
    )


def sought(document: ExecutorDocument, source: PrometheusSourceEntry, *, origin: Origin) -> Sought:
    """Return what is asked of Prometheus."""
    matchers = [Matcher(label=source.target_label, value=document.workload)]
    if document.namespace:
        matchers.append(Matcher(label=source.namespace_label, value=document.namespace))
    path = ("source", "prometheus", "maxAge")
    return Sought(
        expected=source.expected_series,
        index=source.index_series,
        generation=source.generation_series,
        matchers=tuple(matchers),
        member_label=source.member_label,
        age_s_max=seconds(source.max_age, path, origin=origin),
    )


def _rules(document: ExecutorDocument, origin: Origin) -> ExecutionRules:
    def whole_ms(text: str, name: str) -> int:
        return round(seconds(text, (name,), origin=origin) * _MS)

    force, metrics = document.force_after, document.source.prometheus
    interval_ms = whole_ms(document.interval, "interval")
    return ExecutionRules(
        least=document.bounds.min,
        most=document.bounds.max,
        by_number=not BY_INDEX.intersection(document.executor.given),
        grace_ms=whole_ms(document.grace, "grace"),
        force_after_ms=whole_ms(force, "forceAfter") if force else None,
        settle_ms=whole_ms(document.settle, "settle"),
        wish_ms_max=STEADY_INTERVALS * interval_ms,
        checks_members=metrics is not None and metrics.coverage == "members",
    )
