"""By what pods are selected: by services, and by the controllers that made them."""

from collections.abc import Mapping

import msgspec

from springtide.base.selectors import LabelSelector

Reference = tuple[str, str, str]
"""Kind, namespace and name of an object."""


class Selecting(msgspec.Struct, frozen=True, kw_only=True):
    """All selectors of a cluster's pods.

    `services` has those of the services of each namespace, `controllers` what each controller selects
    by: a selector, or plain labels if it is a replication controller.
    """

    services: Mapping[str, tuple[Mapping[str, str], ...]] = {}
    controllers: Mapping[Reference, LabelSelector | Mapping[str, str]] = {}
