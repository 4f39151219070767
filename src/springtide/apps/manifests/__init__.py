"""The Kubernetes objects of a workload whose replicas are decided: composed from its configuration, and lint.

One module an object: `autoscaler`, `rights`, `disruption`, `monitor`, `rules` (with `alerts` as its data),
`registration`, and `patch` for the workload itself; `compose` puts them in order. `choices` is what an operator
may choose beside the configuration, and `demands` what must be said. `lint` holds what is installed against
it: `lint_workload` and `lint_pods` a StatefulSet or Deployment, `lint_autoscaler` an autoscaler. Nothing here
reads or writes anything.
"""

from springtide.apps.manifests.choices import Choices, Fallback, ScaleDown, Unchosen, settled
from springtide.apps.manifests.compose import compose
from springtide.apps.manifests.demands import demand
from springtide.apps.manifests.finding import Finding, Printed
from springtide.apps.manifests.lint import lint, target_of
from springtide.apps.manifests.patch import patch

__all__ = [
    "Choices",
    "Fallback",
    "Finding",
    "Printed",
    "ScaleDown",
    "Unchosen",
    "compose",
    "demand",
    "lint",
    "patch",
    "settled",
    "target_of",
]
