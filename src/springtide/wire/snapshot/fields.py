"""Which field of an object holds what, as far as that is not plain from the text in it."""

from typing import Final

LEFT_OUT: Final = frozenset(
    {
        "message", "env", "envFrom", "volumeMounts", "volumeDevices", "workingDir",
        "terminationMessagePath", "securityContext", "hostAliases", "dnsConfig",
        "hostname", "subdomain", "imagePullSecrets", "serviceAccount", "serviceAccountName",
        "addresses", "podCIDR", "podCIDRs", "daemonEndpoints", "config", "containerID", "imageID",
        "generateName", "finalizers", "volumesAttached", "volumesInUse", "mountOptions", "nodeID",
        "opaque", "tlsConfig", "clientConnection", "leaderElection", "description",
        "activeDeadlineSeconds", "parent", "managedFields",
    }
)  # fmt: skip
NODE_INFO: Final = frozenset({"architecture", "operatingSystem", "kubeletVersion"})
LABELS: Final = frozenset({"labels", "matchLabels", "nodeSelector", "selector"})
QUANTITIES: Final = frozenset(
    {"capacity", "allocatable", "requests", "limits", "allocatedResources", "podFixed", "overhead",
     "hard", "used"}
)  # fmt: skip
AMOUNT: Final = (str, int, float)
SELECTORS: Final = frozenset({"matchLabels", "matchExpressions", "nodeSelectorTerms"})
WORDS_OF_API: Final = frozenset({"kind", "type", "reason", "operator", "effect", "phase", "status"})
KEYS: Final = frozenset(
    {"key", "topologyKey", "topologyKeys", "matchLabelKeys", "mismatchLabelKeys", "ignoredTaints",
     "labelKey"}
)  # fmt: skip
# What devices of resource.k8s.io are described by, with a driver's domain or without.
ATTRIBUTES: Final = frozenset({"attributes", "capacity"})
VALUES: Final = frozenset({"value", "values", "string"})
IMAGES: Final = frozenset({"image", "names"})
# Kinds of which many are called by the domain of a maker, in other fields and expressions too.
BY_DOMAIN: Final = frozenset({"CSIDriver", "DeviceClass", "RuntimeClass"})
PREFIXES: Final = {
    "Node": "node", "Pod": "pod", "Namespace": "ns", "PersistentVolumeClaim": "claim",
    "PersistentVolume": "volume", "StorageClass": "class", "DaemonSet": "daemons",
    "NodeGroups": "groups", "DeviceProfile": "profile",
}  # fmt: skip
# Maps whose keys are names of somebody's parts.
NAMED: Final = frozenset({"minTaskMember"})
