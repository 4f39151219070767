"""The pods and nodes of a plan as scheduler extenders are sent them, each encoded once.

Nodes go by the names that the ledger gives them, templates included; pods by what they look like:
one of those that look alike is sent for all of them.
"""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from springtide.engine.simulation.templates import Template
from springtide.model.pod import Pod, PodSpec
from springtide.wire import extender

Raws = Mapping[str, msgspec.Raw]


class Bodies:
    """Encoded objects by what stands for them in a question."""

    def __init__(
        self,
        raws: Raws,
        *,
        stored: frozenset[str],
        templates: Iterable[Template],
        concerns: Callable[[PodSpec], bool],
    ) -> None:
        """Take the objects as they were written; `stored` are the keys of pods that exist.

        `concerns` says whether any extender is interested in a pod.
        """
        self._raws = raws
        self._stored = stored
        self._templates = {template.node.name: template for template in templates}
        self._concerns = concerns
        self._concerned: dict[PodSpec, bool] = {}
        self._appearances: dict[str, str] = {}
        self._by_template: dict[tuple[int, str, PodSpec], str] = {}
        self._pods: dict[str, bytes] = {}
        self._nodes: dict[str, bytes] = {}

    def appearance(self, pod: Pod) -> str:
        """Return what stands for all that extenders see of the pod, empty if none is interested."""
        found = self._appearances.get(pod.uid)
        if found is None:
            found = self._appearances[pod.uid] = self._appearance(pod)
        return found

    def pod(self, appearance: str) -> bytes:
        """Return the first pod that looks like this."""
        return self._pods[appearance]

    def node(self, name: str) -> bytes:
        """Return the node of this name."""
        encoded = self._nodes.get(name)
        if encoded is None:
            encoded = self._nodes[name] = self._encoded(name)
        return encoded

    def _appearance(self, pod: Pod) -> str:
        concerned = self._concerned.get(pod.spec)
        if concerned is None:
            concerned = self._concerned[pod.spec] = self._concerns(pod.spec)
        if not concerned:
            return ""
        raw = self._raws[f"Pod/{pod.key}"]
        # The pods of one manifest share its template, as the very same object.
        key = (id(raw), pod.namespace, pod.spec)
        known = self._by_template.get(key)
        if known is None:
            encoded = extender.pod_object(pod, raw, is_stored=pod.key in self._stored)
            known = self._by_template[key] = extender.appearance(encoded)
            self._pods.setdefault(known, encoded)
        return known

    def _encoded(self, name: str) -> bytes:
        template = self._templates.get(name)
        if template is None:
            return extender.node_object(self._raws[f"Node/{name}"])
        return extender.template_object(template.node, self._raws.get(f"Node/{template.origin}"))
