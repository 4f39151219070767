"""Configurations of other programs, as far as they decide what a plan may assume.

A KubeSchedulerConfiguration is read by `kubescheduler`; HAMi's device configuration is handed on as
it is, because only its device family understands it. Both are often kept in a ConfigMap.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from springtide.model.scheduler import SchedulerConfiguration
from springtide.wire.origin import Origin

SCHEDULER_GROUP: Final = "kubescheduler.config.k8s.io"
SCHEDULER_KIND: Final = "KubeSchedulerConfiguration"
DEVICE_CONFIG_KEY: Final = "device-config.yaml"
# A device configuration of HAMi has one of these sections at least.
_MARKS: Final = ("nvidia", "vnpus")


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """A valid configuration of the scheduler, and where it was found."""

    configuration: SchedulerConfiguration
    origin: Origin


def is_device_config(value: Mapping[str, object]) -> bool:
    """Return whether a document without a kind is HAMi's device configuration."""
    return "kind" not in value and any(isinstance(value.get(mark), dict) for mark in _MARKS)


def embedded(config_map: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield (key, text) of the entries of a ConfigMap that may hold one of the configurations."""
    data = config_map.get("data")
    for key, text in data.items() if isinstance(data, dict) else ():
        if isinstance(text, str) and (key == DEVICE_CONFIG_KEY or SCHEDULER_KIND in text):
            yield key, text
