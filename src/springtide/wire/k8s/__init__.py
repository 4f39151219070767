"""Kubernetes API objects: from their JSON to model records.

`schema` mirrors the few fields that count, `parts` converts equal parts once, `nodes`, `pods`,
`specs`, `between`, `preferences`, `resize` and `workloads` make the model records, `kinds` lists what is read,
and `objects` gathers whole lists and keeps the broken from harming the rest. `decode_node` and `decode_pod` read
a single object.
"""

from springtide.wire.k8s.objects import Objects
from springtide.wire.k8s.parts import Parts
from springtide.wire.k8s.single import decode_node, decode_pod

__all__ = ["Objects", "Parts", "decode_node", "decode_pod"]
