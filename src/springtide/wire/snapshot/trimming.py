"""What is left out of every object, because it decides nothing and may say too much.

Values of environment variables (their names stay), arguments and commands unless they are wanted,
probes and hooks, who wrote which field, the last applied manifest, and parameters of storage drivers.
Whatever shape an object has, broken ones too, the rest stays as it is.
"""

from typing import Any, Final

from springtide.wire.snapshot.objects import Object

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_ANYWHERE: Final = frozenset({"managedFields", "selfLink"})
_CONTAINERS: Final = frozenset({"containers", "initContainers", "ephemeralContainers"})
_OF_CONTAINERS: Final = frozenset({"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"})
_ARGUMENTS: Final = frozenset({"command", "args"})
# Of classes, volumes and drivers: what is said to the driver.
_TO_DRIVERS: Final = frozenset({"parameters", "volumeAttributes"})


def trimmed(value: Object, *, keeps_arguments: bool = False) -> Object:
    """Return the object without what is left out."""
    return {
        key: _part(item, key, keeps_arguments)
        for key, item in value.items()
        if key not in _ANYWHERE and key not in _TO_DRIVERS
    }


def _part(value: Any, field: str, keeps_arguments: bool) -> Any:  # noqa: FBT001  handed down
    if isinstance(value, list):
        if field in _CONTAINERS:
            return [_container(each, keeps_arguments) for each in value]
        return [_part(each, "", keeps_arguments) for each in value]
    if not isinstance(value, dict):
        return value
    if field == "annotations":
        return {key: item for key, item in value.items() if key != LAST_APPLIED}
    # Keys of labels and of ConfigMaps are anybody's words, none of ours.
    if field in {"labels", "matchLabels", "data"}:
        return value
    return trimmed(value, keeps_arguments=keeps_arguments)


def _container(value: Any, keeps_arguments: bool) -> Any:  # noqa: FBT001  handed down
    if not isinstance(value, dict):
        return value
    left_out = _OF_CONTAINERS if keeps_arguments else _OF_CONTAINERS | _ARGUMENTS
    kept = {key: item for key, item in value.items() if key not in left_out}
    if isinstance(kept.get("env"), list):
        kept["env"] = [_variable(each) for each in kept["env"]]
    return trimmed(kept, keeps_arguments=keeps_arguments)


def _variable(value: Any) -> Any:
    if not isinstance(value, dict):
        return {}
    return {key: item for key, item in value.items() if key in {"name", "valueFrom"}}
