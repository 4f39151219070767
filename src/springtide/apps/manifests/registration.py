"""The registration of the adapter: who answers for external metrics in a cluster.

`deploy/replicas-adapter/apiservice.yaml` is this object without an authority.
"""

import base64
from typing import Final

from springtide.apps.manifests.choices import Document

NAME: Final = "springtide-replicas-adapter"
NAMESPACE: Final = "kube-system"
GROUP: Final = "external.metrics.k8s.io"
VERSION: Final = "v1beta1"


def registration(ca_bundle: bytes) -> Document:
    """Return the registration, with the authority that signed the adapter's certificate as PEM."""
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{VERSION}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "version": VERSION,
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "caBundle": base64.b64encode(ca_bundle).decode(),
            "service": {"name": NAME, "namespace": NAMESPACE, "port": 443},
        },
    }
