"""Whole sources as one input: every document found, every object routed by its kind.

A source holds JSON or YAML, one document or many. API objects become model records, our own
documents are read strictly, configurations of other programs are recognised, and everything else is
counted and left alone. One broken API object is a `Problem`; a document that cannot be read, or one
of ours that says what cannot be, is a fault that names file, line and field.
"""

import codecs
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from springtide.model.group import NodeGroup
from springtide.model.node import Node
from springtide.model.pod import Pod
from springtide.model.problem import Problem
from springtide.model.profile import DeviceProfile
from springtide.model.workload import DaemonSet
from springtide.wire import configurations, yaml
from springtide.wire.crd import nodegroups, profiles
from springtide.wire.errors import InvalidDocument, MalformedObject
from springtide.wire.json_faults import end_of_first, malformed_json
from springtide.wire.k8s.objects import LIST_DECODER, Objects, group_of, label, reads
from springtide.wire.k8s.parts import without_nulls
from springtide.wire.origin import Origin
from springtide.wire.source import Source

GROUP: Final = "springtide.io"


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """All that a set of sources says.

    `pods` are stored pods as they stand; `manifests` are pods that no API server has seen, with its
    defaults filled in but without those of device families. `managed_resources` is None where no
    scheduler configuration was given. `counts` counts all objects by kind, `ignored` those of them
    that are of no use here, `notes` are sentences about what was left out on purpose.
    """

    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    manifests: tuple[Pod, ...] = ()
    daemon_sets: tuple[DaemonSet, ...] = ()
    groups: tuple[NodeGroup, ...] = ()
    profiles: tuple[DeviceProfile, ...] = ()
    device_config: Mapping[str, object] | None = None
    managed_resources: frozenset[str] | None = None
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    counts: Mapping[str, int] = {}
    ignored: Mapping[str, int] = {}


def decode(sources: Sequence[Source]) -> Input:
    """Read all sources into one input, or raise a DocumentFault."""
    reading = _Reading()
    for source in sources:
        reading.take(source)
    return reading.finish()
