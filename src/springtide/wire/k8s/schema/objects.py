"""All kinds of objects that are read by these fields."""

from typing import TypeAlias

from springtide.wire.k8s.schema.classes import PriorityClass, RuntimeClass
from springtide.wire.k8s.schema.nodes import Namespace, Node
from springtide.wire.k8s.schema.pods import Pod
from springtide.wire.k8s.schema.workloads import (
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)

Object: TypeAlias = (
    Node
    | Pod
    | Namespace
    | Deployment
    | ReplicaSet
    | StatefulSet
    | Job
    | DaemonSet
    | PriorityClass
    | RuntimeClass
    | Service
    | ReplicationController
)
