"""A cluster over real connections: TLS, credentials, rights that are missing, servers that are ill."""

import json
import ssl
import sys
from pathlib import Path
from typing import Any

import pytest
import trustme

from springtide.edge.kube import (
    Access,
    Denied,
    Failing,
    Harvest,
    Patience,
    Unreachable,
    Unusable,
    harvest,
)
from springtide.wire.documents import decode
from springtide.wire.k8s.resources import RESOURCES
from tests.apiserver import PATHS, ApiServer, Object, Reply, api_server, kubeconfig, status
from tests.world import FirstRng

OBJECTS: list[Object] = [
    {"kind": "Node", "metadata": {"name": "a"}},
    {"kind": "Pod", "metadata": {"name": "p", "namespace": "t", "uid": "u-1"}},
]


async def no_pause(seconds: float) -> None:
    """Take no time."""


def read(path: str, *, timeout_s: float = 10.0, context: str = "") -> Harvest:
    return harvest(
        Access(kubeconfig=path, context=context, timeout_s=timeout_s),
        RESOURCES,
        patience=Patience(rng=FirstRng(), pause=no_pause),
        progress=lambda name: None,
    )


def read_from(server: ApiServer, tmp_path: Path, **settings: Any) -> Harvest:
    return read(kubeconfig(tmp_path / "config", server.url, **settings))


def test_pages_go_to_the_decoder_of_files(tmp_path: Path) -> None:
    broken = {"kind": "Pod", "metadata": {"name": "broken", "labels": 7}}
    with api_server([*OBJECTS, broken], page_objects=1) as server:
        found = read_from(server, tmp_path)

    said = decode(found.sources)
    assert [node.name for node in said.nodes] == ["a"]
    assert [pod.key for pod in said.pods] == ["t/p"]
    (problem,) = said.problems
    assert problem.source == "cluster test, pods"
    assert problem.object == "Pod/default/broken"


def test_nothing_but_reading_is_done_and_secrets_are_not_read(tmp_path: Path) -> None:
    with api_server(OBJECTS) as server:
        read_from(server, tmp_path)

    assert {each.path for each in server.asked} >= set(server.lists)
    assert not any("secret" in each.path for each in server.asked)


def test_a_token_is_shown(tmp_path: Path) -> None:
    with api_server(OBJECTS) as server:
        read_from(server, tmp_path, user={"token": "abc"})

    assert {each.headers["authorization"] for each in server.asked} == {"Bearer abc"}


def test_a_plugin_is_asked_for_the_token(tmp_path: Path) -> None:
    answer = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "from-plugin"},
    }
    command = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-c", f"print({json.dumps(answer)!r})"],
    }
    with api_server(OBJECTS) as server:
        read_from(server, tmp_path, user={"exec": command})

    assert {each.headers["authorization"] for each in server.asked} == {"Bearer from-plugin"}


def test_a_plugin_that_fails_ends_the_reading(tmp_path: Path) -> None:
    command = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-c", "import sys; sys.exit('log in first')"],
    }
    with api_server(OBJECTS) as server, pytest.raises(Unusable, match="log in first"):
        read_from(server, tmp_path, user={"exec": command})

    assert server.asked == []


def test_what_is_missing_is_named_and_the_rest_is_there(tmp_path: Path) -> None:
    with api_server(OBJECTS) as server:
        server.scripted[PATHS["StorageClass"]] = [status(403, "forbidden")]
        del server.lists[PATHS["CSIStorageCapacity"]]

        found = read_from(server, tmp_path)

    assert [each.name for each in found.denied] == ["storageclasses.storage.k8s.io"]
    assert [each.name for each in found.unserved] == ["csistoragecapacities.storage.k8s.io"]
    assert len(decode(found.sources).pods) == 1


@pytest.mark.parametrize("kind", ["Node", "Pod"])
def test_without_nodes_or_pods_there_is_no_answer(kind: str, tmp_path: Path) -> None:
    with api_server(OBJECTS) as server:
        server.scripted[PATHS[kind]] = [status(403, "forbidden: User x")]

        with pytest.raises(Denied, match=r"forbidden: User x.*have somebody grant the right"):
            read_from(server, tmp_path)


def test_whoever_is_unknown_everywhere_is_told_so(tmp_path: Path) -> None:
    with api_server(OBJECTS) as server:
        server.scripted[PATHS["StorageClass"]] = [status(401, "Unauthorized")]

        with pytest.raises(Denied, match="Log in again"):
            read_from(server, tmp_path)


def test_a_server_that_keeps_failing_ends_everything(tmp_path: Path) -> None:
    with api_server(OBJECTS) as server:
        server.scripted[PATHS["CSINode"]] = [status(500, "no leader")] * 9

        with pytest.raises(Failing, match="code 500: no leader"):
            read_from(server, tmp_path)


def test_a_connection_that_breaks_is_made_again(tmp_path: Path) -> None:
    with api_server(OBJECTS) as server:
        server.scripted[PATHS["Node"]] = [Reply(cuts=True)]

        found = read_from(server, tmp_path)

    assert len(decode(found.sources).nodes) == 1


def test_an_answer_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    with api_server(OBJECTS) as server:
        server.scripted[PATHS["Node"]] = [Reply(hangs=True)]

        with pytest.raises(Unreachable, match=r"within 0\.1 s.*--request-timeout"):
            read(kubeconfig(tmp_path / "config", server.url), timeout_s=0.1)


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with api_server() as server:
        path = kubeconfig(tmp_path / "config", server.url)

    with pytest.raises(Unreachable, match=f"{server.url} cannot be reached"):
        read(path)


def test_certificates_are_checked(tmp_path: Path) -> None:
    ours, theirs = trustme.CA(), trustme.CA()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    theirs.issue_cert("127.0.0.1").configure_cert(tls)
    theirs.cert_pem.write_to_path(str(tmp_path / "theirs.pem"))
    ours.cert_pem.write_to_path(str(tmp_path / "ours.pem"))

    with api_server(OBJECTS, tls=tls) as server:
        found = read_from(server, tmp_path, cluster={"certificate-authority": "theirs.pem"})
        with pytest.raises(Unreachable, match="certificate verify failed"):
            read_from(server, tmp_path, cluster={"certificate-authority": "ours.pem"})

    assert len(decode(found.sources).nodes) == 1


def test_a_client_certificate_is_shown(tmp_path: Path) -> None:
    authority = trustme.CA()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(tls)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    pair = authority.issue_cert("somebody@example.com")
    pair.cert_chain_pems[0].write_to_path(str(tmp_path / "me.pem"))
    pair.private_key_pem.write_to_path(str(tmp_path / "me.key"))
    user = {"client-certificate": "me.pem", "client-key": "me.key"}

    with api_server(OBJECTS, tls=tls) as server:
        found = read_from(server, tmp_path, user=user, cluster={"certificate-authority": "ca.pem"})

    assert len(decode(found.sources).nodes) == 1


def test_certificates_that_are_none_are_told(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing", encoding="utf-8")
    path = kubeconfig(
        tmp_path / "config", "https://127.0.0.1:1", cluster={"certificate-authority": "ca.pem"}
    )

    with pytest.raises(Unusable, match="certificates of test cannot be used"):
        read(path)


def test_a_context_that_does_not_exist_is_told(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", "https://127.0.0.1:1")

    with pytest.raises(Unusable, match="Did you mean test"):
        read(path, context="tset")
