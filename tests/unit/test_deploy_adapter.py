"""The example in deploy/replicas-adapter: it fits together, and the rights that it grants are those that are used."""

import re
from pathlib import Path
from typing import Any, Final

from springtide.edge.kube.transport import Request
from springtide.wire import yaml
from springtide.wire.crd.adapter import read_adapter
from springtide.wire.origin import Origin
from tests.adapting import Authority, E, S, adapting, value_path
from tests.promapi import PromApi, prometheus
from tests.running import run

DEPLOY: Final = Path(__file__).parents[2] / "deploy" / "replicas-adapter"
OURS: Final = "springtide-replicas-adapter"
DELEGATED: Final = ("tokenreviews", "subjectaccessreviews", "extension-apiserver-authentication")
"""What the roles of the cluster itself allow, to which the account is bound."""

Right = tuple[str, str, str]


def documents(name: str) -> list[Any]:
    """Return the documents of an example."""
    path = DEPLOY / name
    return [each.value for each in yaml.documents(path.read_bytes(), str(path))]


def of_kind(name: str, kind: str) -> Any:
    """Return the only document of a kind."""
    (found,) = (each for each in documents(name) if each["kind"] == kind)
    return found


def granted() -> set[Right]:
    """Return what the adapter's own role allows."""
    return {
        (group, resource, verb)
        for each in documents("rbac.yaml")
        if each["kind"] == "ClusterRole" and each["metadata"]["name"] == OURS
        for rule in each["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def right(request: Request) -> Right:
    """Return the right that a request needs."""
    scale = re.fullmatch(r"/apis/apps/v1/namespaces/[^/]+/(\w+)/[^/]+/scale", request.path)
    if scale is not None:
        return "apps", f"{scale[1]}/scale", "get"
    assert re.fullmatch(r"/api/v1/namespaces/[^/]+/pods", request.path), request.path
    return "", "pods", "list"


def test_the_rights_are_enough_and_no_more(tmp_path: Path) -> None:
    authority = Authority()
    authority.scale("chat", replicas=2, running=2)
    authority.tokens["good"] = "somebody"

    async def work(api: PromApi) -> None:
        api.put_member(E, 2, member="chat-0")
        api.put_member(S, 1, member="chat-0")
        async with adapting(tmp_path, authority, api) as adapter:
            await adapter.value(E)
            await adapter.value(S)
            token = "Authorization: Bearer good\r\n"
            await adapter.ask(value_path(E), by=token, tls=adapter.pki.stranger())

    with prometheus() as api:
        run(work(api))
    own = [each for each in authority.asked if not each.path.endswith(DELEGATED)]
    used = {right(each) for each in own}

    others = {("apps", "deployments/scale", "get"), ("apps", "replicasets/scale", "get")}
    assert len(own) < len(authority.asked)
    assert used == granted() - others


def test_the_account_is_bound_to_what_delegation_needs() -> None:
    bound = {
        each["roleRef"]["name"]
        for each in documents("rbac.yaml")
        if "roleRef" in each and each["subjects"][0]["name"] == OURS
    }

    assert {"system:auth-delegator", "extension-apiserver-authentication-reader"} <= bound


def test_the_configuration_is_one() -> None:
    (config_map,) = documents("configuration.yaml")
    (found,) = yaml.documents(config_map["data"]["adapter.yaml"].encode(), "adapter.yaml")

    document = read_adapter(found.value, origin=Origin(source="adapter.yaml", document=found))

    assert [each.name for each in document.metrics] == [E, S]


def test_the_registration_leads_to_the_adapter() -> None:
    (registration,) = documents("apiservice.yaml")
    service = of_kind("deployment.yaml", "Service")
    deployment = of_kind("deployment.yaml", "Deployment")
    (config_map,) = documents("configuration.yaml")

    template = deployment["spec"]["template"]
    (container,) = template["spec"]["containers"]
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert registration["spec"]["service"]["name"] == service["metadata"]["name"]
    assert registration["spec"]["service"]["port"] in {
        each["port"] for each in service["spec"]["ports"]
    }
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    assert f"bindAddress: :{ports['https']}" in config_map["data"]["adapter.yaml"]
    assert template["spec"]["serviceAccountName"] == OURS
