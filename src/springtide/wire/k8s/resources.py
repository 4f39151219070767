"""What is read from a live cluster: kinds with their places in the API, and nothing else.

The table is the whole list, so that whoever grants the rights can see it: no Secrets, no Events. Of
ConfigMaps only those that carry the label of HAMi's scheduler are asked for.
"""

from typing import Final

import msgspec

from springtide.wire.k8s.kinds import reads


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of object. `versions` are tried in order until the server knows one.

    Without the `is_essential` ones there is no answer at all. An `is_optional` one is there
    only if somebody installed or enabled it, so its absence is nothing to speak of.
    """

    kind: str
    plural: str
    group: str = ""
    versions: tuple[str, ...] = ("v1",)
    selector: str = ""
    is_essential: bool = False
    is_optional: bool = False

    @property
    def name(self) -> str:
        """Return what a role calls it: `storageclasses.storage.k8s.io`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, version: str, namespace: str = "") -> str:
        """Return where the API has the objects of this kind, of all namespaces or of one."""
        root = f"/apis/{self.group}/{version}" if self.group else f"/api/{version}"
        return (
            f"{root}/namespaces/{namespace}/{self.plural}" if namespace else f"{root}/{self.plural}"
        )


STORAGE: Final = "storage.k8s.io"
CLAIMS: Final = "resource.k8s.io"
CLAIM_VERSIONS: Final = ("v1", "v1beta2", "v1beta1")
OURS: Final = "springtide.io"
HAMI_SELECTOR: Final = "app.kubernetes.io/component=hami-scheduler"
"""What HAMi's chart writes on the ConfigMaps of its scheduler, whatever the release is called."""

RESOURCES: Final = (
    Resource(kind="Node", plural="nodes", is_essential=True),
    Resource(kind="Pod", plural="pods", is_essential=True),
    Resource(kind="Namespace", plural="namespaces"),
    Resource(kind="ResourceQuota", plural="resourcequotas"),
    Resource(kind="Service", plural="services"),
    Resource(kind="ReplicationController", plural="replicationcontrollers"),
    Resource(kind="ReplicaSet", plural="replicasets", group="apps"),
    Resource(kind="StatefulSet", plural="statefulsets", group="apps"),
    Resource(kind="DaemonSet", plural="daemonsets", group="apps"),
    Resource(kind="PriorityClass", plural="priorityclasses", group="scheduling.k8s.io"),
    Resource(kind="RuntimeClass", plural="runtimeclasses", group="node.k8s.io"),
    Resource(kind="PodDisruptionBudget", plural="poddisruptionbudgets", group="policy"),
    Resource(kind="PersistentVolumeClaim", plural="persistentvolumeclaims"),
    Resource(kind="PersistentVolume", plural="persistentvolumes"),
    Resource(kind="StorageClass", plural="storageclasses", group=STORAGE),
    Resource(kind="CSINode", plural="csinodes", group=STORAGE),
    Resource(kind="CSIDriver", plural="csidrivers", group=STORAGE),
    Resource(kind="CSIStorageCapacity", plural="csistoragecapacities", group=STORAGE),
    Resource(kind="VolumeAttachment", plural="volumeattachments", group=STORAGE),
    Resource(kind="ResourceClaim", plural="resourceclaims", group=CLAIMS, versions=CLAIM_VERSIONS),
    Resource(
        kind="ResourceClaimTemplate",
        plural="resourceclaimtemplates",
        group=CLAIMS,
        versions=CLAIM_VERSIONS,
    ),
    Resource(kind="ResourceSlice", plural="resourceslices", group=CLAIMS, versions=CLAIM_VERSIONS),
    Resource(kind="DeviceClass", plural="deviceclasses", group=CLAIMS, versions=CLAIM_VERSIONS),
    Resource(
        kind="Workload",
        plural="workloads",
        group="scheduling.k8s.io",
        versions=("v1alpha1",),
        is_optional=True,
    ),
    Resource(
        kind="PodGroup",
        plural="podgroups",
        group="scheduling.k8s.io",
        versions=("v1alpha2", "v1alpha1"),
        is_optional=True,
    ),
    Resource(
        kind="PodGroup",
        plural="podgroups",
        group="scheduling.x-k8s.io",
        versions=("v1alpha1",),
        is_optional=True,
    ),
    Resource(
        kind="PodGroup",
        plural="podgroups",
        group="scheduling.volcano.sh",
        versions=("v1beta1",),
        is_optional=True,
    ),
    Resource(
        kind="DeviceTaintRule",
        plural="devicetaintrules",
        group=CLAIMS,
        versions=("v1", "v1beta2", "v1alpha3"),
        is_optional=True,
    ),
    Resource(kind="ConfigMap", plural="configmaps", selector=HAMI_SELECTOR),
    Resource(
        kind="NodeGroups",
        plural="nodegroups",
        group=OURS,
        versions=("v1alpha1",),
        is_optional=True,
    ),
    Resource(
        kind="DeviceProfile",
        plural="deviceprofiles",
        group=OURS,
        versions=("v1alpha1",),
        is_optional=True,
    ),
)

OF_FILES: Final = frozenset({("apps", "Deployment"), ("batch", "Job")})
"""Kinds that only stand for pods that nobody has made yet: in a live cluster these are there."""


def judged() -> tuple[Resource, ...]:
    """Return the resources that decide something in this version."""
    return tuple(
        each
        for each in RESOURCES
        if reads(each.group, each.kind) or each.group == OURS or each.kind == "ConfigMap"
    )
