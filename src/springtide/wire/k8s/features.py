"""What a pod asks of the kubelet itself, by the names under which nodes declare it."""

from typing import Final

from springtide.wire.k8s import schema

RESTART_ALL: Final = "RestartAllContainersOnContainerExits"
USER_NAMESPACES: Final = "UserNamespacesHostNetworkSupport"

_RESTART_ALL_ACTION: Final = "RestartAllContainers"


def required_features(read: schema.PodSpec) -> tuple[str, ...]:
    """Return the features that kube-scheduler 1.37 infers from a pod's spec, sorted."""
    containers = (*read.containers, *read.init_containers)
    rules = (rule for each in containers for rule in each.restart_policy_rules)
    restarts_all = any(rule.action == _RESTART_ALL_ACTION for rule in rules)
    maps_users = read.host_network and read.host_users is False
    return (
        *((RESTART_ALL,) if restarts_all else ()),
        *((USER_NAMESPACES,) if maps_users else ()),
    )
