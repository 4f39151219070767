"""The rights of our programs as `deploy/` grants them, for users of the API server who are their accounts."""

from pathlib import Path
from typing import Final

from springtide.wire import yaml
from tests.e2e.controlplane import ControlPlane
from tests.e2e.waiting import eventually

EXTENDER: Final = "extender"
ACCOUNT: Final = {
    EXTENDER: f"{EXTENDER}-token,system:serviceaccount:kube-system:springtide-extender,6"
}
"""To be given to `Setup` as `users`."""
MANIFEST: Final = Path(__file__).parents[2] / "deploy" / "extender" / "rbac.yaml"
ROOT: Final = "/apis/rbac.authorization.k8s.io/v1"
OF_ALL: Final = {"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings"}
OF_SPACE: Final = {"Role": "roles", "RoleBinding": "rolebindings"}


def grant(plane: ControlPlane, manifest: Path = MANIFEST) -> None:
    """Let an account do what its program may do, the extender unless told, and nothing else."""
    namespaces = "/api/v1/namespaces"
    eventually(
        lambda: {each["metadata"]["name"] for each in plane.ask("GET", namespaces)["items"]},
        lambda found: found >= {"default", "kube-system"},
    )
    for document in yaml.documents(manifest.read_bytes(), str(manifest)):
        body = document.value
        assert isinstance(body, dict)
        kind, metadata = body["kind"], body["metadata"]
        assert isinstance(metadata, dict)
        space = metadata.get("namespace", "")
        if kind in OF_ALL:
            plane.create(f"{ROOT}/{OF_ALL[kind]}", body)
        elif kind in OF_SPACE:
            plane.create(f"{ROOT}/namespaces/{space}/{OF_SPACE[kind]}", body)
        else:
            assert kind == "ServiceAccount"
            plane.create(f"{namespaces}/{space}/serviceaccounts", body)
