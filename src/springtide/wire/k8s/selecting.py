"""What services and controllers select pods by, gathered from their objects."""

from collections import defaultdict
from collections.abc import Mapping

from springtide.base.selectors import LabelSelector
from springtide.model.selecting import Reference, Selecting
from springtide.wire.k8s import schema
from springtide.wire.k8s.between import to_selector
from springtide.wire.k8s.pods import DEFAULT_NAMESPACE


class SelectorReading:
    """The selectors read so far."""

    def __init__(self) -> None:
        self._services: dict[str, dict[str, Mapping[str, str]]] = defaultdict(dict)
        self._controllers: dict[Reference, LabelSelector | Mapping[str, str]] = {}

    def keep(self, read: schema.Service | schema.ReplicationController) -> bool:
        """Keep an object's selector, and return whether it is the first of its name."""
        metadata, selector = read.metadata, read.spec.selector
        namespace = metadata.namespace or DEFAULT_NAMESPACE
        if isinstance(read, schema.Service):
            services = self._services[namespace]
            is_new = metadata.name not in services
            services.setdefault(metadata.name, selector)
            return is_new
        reference = ("ReplicationController", namespace, metadata.name)
        is_new = reference not in self._controllers
        self._controllers.setdefault(reference, selector)
        return is_new

    def add(self, reference: Reference, selector: schema.LabelSelector | None) -> None:
        """Keep what a workload selects its pods by."""
        found = to_selector(selector)
        if found is not None:
            self._controllers[reference] = found

    def selecting(self) -> Selecting:
        """Return all selectors."""
        services = {name: tuple(found.values()) for name, found in self._services.items()}
        return Selecting(services=services, controllers=dict(self._controllers))
