"""The example in deploy/replicas-guard: it fits together, and the rights that it grants are those that are used."""

import re
from pathlib import Path
from typing import Any, Final

from springtide.edge.kube.transport import Request
from springtide.wire import yaml
from springtide.wire.crd.guard import read_guard
from springtide.wire.origin import Origin
from tests.adapting import Authority, S
from tests.guarding import guarding, workload
from tests.promapi import PromApi, prometheus
from tests.reviews import scaled
from tests.running import run

DEPLOY: Final = Path(__file__).parents[2] / "deploy" / "replicas-guard"
OURS: Final = "springtide-replicas-guard"

Right = tuple[str, str, str]


def documents(name: str) -> list[Any]:
    """Return the documents of an example."""
    path = DEPLOY / name
    return [each.value for each in yaml.documents(path.read_bytes(), str(path))]


def of_kind(name: str, kind: str) -> Any:
    """Return the only document of a kind."""
    (found,) = (each for each in documents(name) if each["kind"] == kind)
    return found


def right(request: Request) -> Right:
    """Return the right that a request needs."""
    found = re.fullmatch(r"/apis/apps/v1/namespaces/[^/]+/(\w+)/[^/]+(/scale)?", request.path)
    if found is not None:
        return "apps", f"{found[1]}{found[2] or ''}", "get"
    assert re.fullmatch(r"/api/v1/namespaces/[^/]+/pods", request.path), request.path
    return "", "pods", "list"


def test_the_rights_are_enough_and_no_more(tmp_path: Path) -> None:
    authority = Authority()
    for name, resource in (("chat", "statefulsets"), ("web", "deployments")):
        workload(authority, name, replicas=2, resource=resource)

    async def work(api: PromApi) -> None:
        for name in ("chat", "web"):
            api.put_member(S, 1, member=f"{name}-0", target=name)
        async with guarding(tmp_path, authority, api) as guard:
            await guard.review(scaled(2, 1))
            await guard.review(scaled(2, 1, name="web", resource="deployments"))

    with prometheus() as api:
        run(work(api))
    granted = {
        (group, resource, verb)
        for rule in of_kind("rbac.yaml", "ClusterRole")["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }

    assert {right(each) for each in authority.asked} == granted


def test_the_configuration_is_one() -> None:
    (config_map,) = documents("configuration.yaml")
    (found,) = yaml.documents(config_map["data"]["guard.yaml"].encode(), "guard.yaml")

    document = read_guard(found.value, origin=Origin(source="guard.yaml", document=found))

    assert document.exempt.groups == ("system:masters",)


def test_the_registration_leads_to_the_guard() -> None:
    (registration,) = documents("webhook.yaml")
    service = of_kind("deployment.yaml", "Service")
    deployment = of_kind("deployment.yaml", "Deployment")
    (config_map,) = documents("configuration.yaml")

    template = deployment["spec"]["template"]
    (container,) = template["spec"]["containers"]
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    for hook in registration["webhooks"]:
        named = hook["clientConfig"]["service"]
        assert (named["name"], named["path"]) == (service["metadata"]["name"], "/validate")
        assert named["port"] in {each["port"] for each in service["spec"]["ports"]}
        assert hook["failurePolicy"] == "Ignore"
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    assert f"bindAddress: :{ports['https']}" in config_map["data"]["guard.yaml"]
    assert template["spec"]["serviceAccountName"] == OURS
    assert container["args"] == ["replicas", "guard", "--config=/config/guard.yaml"]
