"""Configurations of other programs, as far as they decide what a plan may assume.

From a KubeSchedulerConfiguration come the resource names that kube-scheduler leaves to an extender;
HAMi's device configuration is handed on as it is, because only its device family understands it.
Both are often kept in a ConfigMap.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from springtide.wire import strict
from springtide.wire.origin import Origin

SCHEDULER_GROUP: Final = "kubescheduler.config.k8s.io"
SCHEDULER_KIND: Final = "KubeSchedulerConfiguration"
DEVICE_CONFIG_KEY: Final = "device-config.yaml"
# The one section that every device configuration of HAMi has.
_MARK: Final = "nvidia"


class ManagedResource(msgspec.Struct, frozen=True, rename="camel"):
    """A resource that an extender manages."""

    name: str = ""
    ignored_by_scheduler: bool = False


class Extender(msgspec.Struct, frozen=True, rename="camel"):
    """An extender, as far as its resources go."""

    managed_resources: tuple[ManagedResource, ...] = ()


class SchedulerConfiguration(msgspec.Struct, frozen=True):
    """The part of the scheduler's configuration that we read."""

    extenders: tuple[Extender, ...] = ()


def managed_resources(value: object, *, origin: Origin) -> frozenset[str]:
    """Return the names that kube-scheduler ignores because an extender manages them."""
    read = strict.read(value, SchedulerConfiguration, origin=origin)
    return frozenset(
        each.name
        for extender in read.extenders
        for each in extender.managed_resources
        if each.ignored_by_scheduler
    )


def is_device_config(value: Mapping[str, object]) -> bool:
    """Return whether a document without a kind is HAMi's device configuration."""
    return "kind" not in value and isinstance(value.get(_MARK), dict)


def embedded(config_map: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield (key, text) of the entries of a ConfigMap that may hold one of the configurations."""
    data = config_map.get("data")
    for key, text in data.items() if isinstance(data, dict) else ():
        if isinstance(text, str) and (key == DEVICE_CONFIG_KEY or SCHEDULER_KIND in text):
            yield key, text
