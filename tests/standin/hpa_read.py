"""A stand-in autoscaler of a manifest, as the API server reads it: what is left out has its default."""

from decimal import Decimal
from typing import Any

from tests.standin.hpa import Autoscaler
from tests.standin.hpa_behavior import DOWN, UP, Behavior, Bounds, Policy, Rules
from tests.standin.hpa_maths import MILLI, TOLERANCE, Metric, Tolerance

Json = dict[str, Any]


def autoscaler_of(spec: Json) -> Autoscaler:
    """Return the autoscaler of the `spec` of a manifest."""
    behavior = spec.get("behavior", {})
    up, down = behavior.get("scaleUp", {}), behavior.get("scaleDown", {})
    return Autoscaler(
        metrics=tuple(_metric(each["external"]) for each in spec["metrics"]),
        bounds=Bounds(least=spec["minReplicas"], most=spec["maxReplicas"]),
        behavior=Behavior(up=_rules(up, UP), down=_rules(down, DOWN)),
        tolerance=Tolerance(up=_tolerance(up), down=_tolerance(down)),
    )


def _metric(external: Json) -> Metric:
    target = external["target"]
    written = target["averageValue" if target["type"] == "AverageValue" else "value"]
    return Metric(
        name=external["metric"]["name"],
        kind=target["type"],
        target_milli=int(Decimal(written) * MILLI),
    )


def _rules(direction: Json, default: Rules) -> Rules:
    policies = tuple(
        Policy(kind=each["type"], value=each["value"], period_s=each["periodSeconds"])
        for each in direction.get("policies", ())
    )
    return Rules(
        window_s=direction.get("stabilizationWindowSeconds", default.window_s),
        select=direction.get("selectPolicy", default.select),
        policies=policies or default.policies,
    )


def _tolerance(direction: Json) -> float:
    return float(direction.get("tolerance", TOLERANCE))
