"""Which series belong to one workload: what is matched by itself, then by all, then by one metric.

A later matcher of a label takes the place of an earlier one. Without the workload's name a query
would count somebody else's members, so `is_scoped` asks for it. `job` and `instance` are never
matched by themselves: exporters rewrite them.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from springtide.engine.replicas.names import label_name
from springtide.model.replicas.matcher import Matcher, MatchOperator
from springtide.model.replicas.workload import Workload

TARGET_NAME: Final = "hpa_target_name"
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def selectors(
    workload: Workload, *, added: Iterable[Matcher] = (), without: Iterable[str] = ()
) -> tuple[Matcher, ...]:
    """Return the matchers of a query, by label."""
    found = {each.label: each for each in _automatic(workload)}
    for each in added:
        label = label_name(each.label)
        found[label] = msgspec.structs.replace(each, label=label)
    omitted = {label_name(each) for each in without}
    return tuple(found[label] for label in sorted(found) if label not in omitted)


def is_scoped(matchers: Iterable[Matcher]) -> bool:
    """Return whether only members of one workload can match."""
    return any(
        each.label == TARGET_NAME and each.operator is MatchOperator.EQUAL and each.value
        for each in matchers
    )


def selector(name: str, matchers: Iterable[Matcher]) -> str:
    """Return an instant selector: the metric's name, and its conditions if there are any."""
    conditions = ",".join(
        f'{each.label}{each.operator}"{each.value.translate(_ESCAPES)}"' for each in matchers
    )
    return f"{name}{{{conditions}}}" if conditions else name


def _automatic(workload: Workload) -> Iterable[Matcher]:
    said = {
        "deployment_environment_name": workload.environment,
        "service_namespace": workload.service_namespace,
        "service_name": workload.service,
        "hpa_target_kind": workload.kind,
        TARGET_NAME: workload.name,
        "hpa_target_api_version": workload.api_version,
    }
    return [Matcher(label=label, value=value) for label, value in said.items() if value]
