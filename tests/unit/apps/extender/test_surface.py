"""What callers see of an extender: bodies that make no sense, reviews, probes, and who may call."""

import asyncio
import base64
import ssl
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trustme

from springtide.apps.extender import Deadlines, Settings, Sizes
from springtide.edge.serving import CertificateFiles, Certificates
from tests.builders import card
from tests.loopback import answer, call, connected, head
from tests.running import SCHEDULER, Unwilling, World, pod_object, run, running, until

GARBAGE = [
    b"",
    b"{",
    b"null",
    b"[1,2]",
    b"\xff\xfe\x00",
    b'{"Pod":{}}',
    b'{"Pod":{"metadata":{"name":1}}}',
    b'{"Pod":' + b'{"a":' * 5000,
    (
        b'{"Pod":{"metadata":{"name":"x"},"spec":{"containers":[{"resources":{"limits":{"a":"1x"}}}]}},'
        b'"NodeNames":[]}'
    ),
]


@pytest.mark.parametrize("body", GARBAGE)
def test_a_filter_or_bind_call_that_makes_no_sense_is_answered_with_an_error(body: bytes) -> None:
    world = World()
    world.add_node("a")

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            filtered = await extender.post("/filter", body)
            bound = await extender.post("/bind", body)
            after = await extender.filter(world.add_pod("train", gpu=1), "a")

            assert filtered["Error"]
            assert filtered["NodeNames"] is None
            assert bound["Error"]
            assert after["NodeNames"] == ["a"]

    run(work())


@pytest.mark.parametrize("body", GARBAGE)
def test_a_review_that_makes_no_sense_is_answered_with_an_error(body: bytes) -> None:
    async def work() -> None:
        async with running(Unwilling(World().store)) as extender:
            response = (await extender.post("/webhook", body))["response"]

            assert not response["allowed"]
            assert response["status"]["code"] == 400

    run(work())


def test_bodies_that_are_too_large_or_too_slow_are_told_so() -> None:
    settings = Settings(
        deadlines=Deadlines(body_s=0.05, drain_s=1.0), sizes=Sizes(body_bytes=1000, review_bytes=9)
    )

    async def work() -> None:
        async with running(Unwilling(World().store), settings=settings) as extender:
            large = await extender.post("/filter", b" " * 1001)
            review = await extender.post("/webhook", b" " * 10)
            async with connected(extender.calls) as (reader, writer):
                writer.write(head("POST", "/filter", length=5) + b"{")
                slow = msgspec.json.decode((await answer(reader)).body)

            assert "larger than" in large["Error"]
            assert review["response"]["status"]["code"] == 413
            assert "did not come within" in slow["Error"]

    run(work())


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/filter", 405),
        ("PUT", "/bind", 405),
        ("POST", "/healthz", 405),
        ("POST", "/filter/", 404),
        ("GET", "/", 404),
        ("GET", "/prioritize", 405),
        ("GET", "/debug/pprof/", 404),
    ],
)
def test_other_methods_and_paths_are_refused(method: str, path: str, status: int) -> None:
    async def work() -> None:
        async with running(Unwilling(World().store)) as extender:
            assert (await call(extender.calls, method, path, b"")).status == status

    run(work())


def review(pod: Any, *, version: str = "v1") -> dict[str, Any]:
    """Return the review of a pod."""
    return {
        "apiVersion": f"admission.k8s.io/{version}",
        "kind": "AdmissionReview",
        "request": {"uid": "r1", "namespace": "team", "operation": "CREATE", "object": pod},
    }


def changes(response: Any) -> dict[str, Any]:
    """Return the values of a patch by their paths."""
    operations = msgspec.json.decode(base64.b64decode(response["patch"]))
    return {each["path"]: each["value"] for each in operations}


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_pod_that_asks_for_devices_is_completed(version: str) -> None:
    pod = pod_object("train", gpumem=3000)
    del pod["spec"]["schedulerName"]

    async def work() -> None:
        async with running(Unwilling(World().store)) as extender:
            answered = await extender.post("/webhook", review(pod, version=version))

            response = answered["response"]
            limits = "/spec/containers/0/resources/limits"
            assert answered["apiVersion"] == f"admission.k8s.io/{version}"
            assert response["allowed"]
            assert response["uid"] == "r1"
            assert changes(response)["/spec/schedulerName"] == SCHEDULER
            assert changes(response)[f"{limits}/nvidia.com~1gpu"] == "1"

    run(work())


def test_a_pod_that_asks_for_none_is_left_alone() -> None:
    async def work() -> None:
        async with running(Unwilling(World().store)) as extender:
            answered = await extender.post("/webhook", review(pod_object("web")))

            assert answered["response"] == {"uid": "r1", "allowed": True}

    run(work())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"containers": []}, "pod has no containers"),
        ({"nodeName": "a"}, "pod has node assigned"),
        ({"privileged": True}, "container main is privileged"),
    ],
)
def test_a_pod_that_cannot_be_is_denied(spec: dict[str, Any], message: str) -> None:
    pod = pod_object("train", gpu=1)
    if spec.pop("privileged", False):
        pod["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    pod["spec"] = {**pod["spec"], "schedulerName": "", **spec}

    async def work() -> None:
        async with running(Unwilling(World().store)) as extender:
            answered = await extender.post("/webhook", review(pod))

            assert answered["response"]["status"] == {
                "code": 403,
                "reason": "Forbidden",
                "message": message,
            }

    run(work())


def test_a_review_needs_the_type_of_its_content() -> None:
    body = msgspec.json.encode(review(pod_object("web")))

    async def work() -> None:
        async with running(Unwilling(World().store)) as extender:
            answered = await call(
                extender.calls, "POST", "/webhook", body, extra="Content-Type: text/plain\r\n"
            )

            status = msgspec.json.decode(answered.body)["response"]["status"]
            assert status["message"] == "contentType=text/plain, expected application/json"

    run(work())


def test_probes_say_how_it_stands() -> None:
    async def work() -> None:
        async with running(Unwilling(World().store)) as extender:
            bodies = {
                path: (await extender.get(path)).body.decode()
                for path in ("/healthz", "/livez", "/readyz", "/readyz?verbose", "/version")
            }
            extender.process.scheduling.is_leaving = True
            extender.process.scheduling.is_stopping = True
            stopping = await extender.get("/readyz")
            refused = await extender.filter(World().add_pod("train", gpu=1), "a")

            assert [bodies[path] for path in ("/healthz", "/livez", "/readyz")] == ["ok"] * 3
            assert "[+]pods-synced ok" in bodies["/readyz?verbose"]
            assert "readyz check passed" in bodies["/readyz?verbose"]
            assert "version" in msgspec.json.decode(bodies["/version"])
            assert stopping.status == 503
            assert b"[-]shutdown failed" in stopping.body
            assert "shutting down" in refused["Error"]

    run(work())


def test_metrics_tell_devices_and_decisions() -> None:
    world = World()
    world.add_node("a", card('GPU-"odd"'))

    async def work() -> None:
        async with running(Unwilling(world.store)) as extender:
            await extender.filter(world.add_pod("train", gpu=1, gpumem=1024, gpucores=50), "a")
            await extender.filter(world.add_pod("huge", gpu=1, gpumem=90000), "a")
            await extender.settled()
            page = await extender.get("/metrics")
            text = page.body.decode()

            assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
            for line in (
                (
                    'hami_gpu_core_allocated_ratio{node="a",device_uuid="GPU-\\"odd\\"",'
                    'device_index="0",device_type="NVIDIA-A10",zone="vGPU"} 50'
                ),
                (
                    'hami_vgpu_memory_allocated_bytes{namespace="team",node="a",pod="train",'
                    f'container_index="0",device_uuid="GPU-\\"odd\\"",zone="vGPU"}} {1024 << 20}'
                ),
                'springtide_extender_filters_total{verdict="placed"} 1.0',
                'springtide_extender_refusals_total{reason="CardInsufficientMemory"} 1.0',
                "springtide_extender_leading 1.0",
                "springtide_extender_reservations_held 1.0",
                "springtide_extender_reservations_leaked 0.0",
            ):
                assert line in text

    run(work())


def test_calls_need_a_certificate_where_authorities_are_given_but_probes_do_not(
    tmp_path: Path,
) -> None:
    authority = trustme.CA()
    made = authority.issue_cert("localhost")
    made.private_key_pem.write_to_path(tmp_path / "tls.key")
    made.cert_chain_pems[0].write_to_path(tmp_path / "tls.crt")
    authority.cert_pem.write_to_path(tmp_path / "ca.crt")
    files = CertificateFiles(
        certificate=str(tmp_path / "tls.crt"),
        key=str(tmp_path / "tls.key"),
        client_authorities=str(tmp_path / "ca.crt"),
    )
    silent, known = (ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) for _ in range(2))
    authority.configure_trust(silent)
    authority.configure_trust(known)
    authority.issue_cert("scheduler").configure_cert(known)
    settings = Settings(needs_client_certificate=True, deadlines=Deadlines(drain_s=1.0))

    async def work() -> None:
        cluster = Unwilling(World().store)
        certificates = Certificates(files)
        async with running(cluster, settings=settings, certificates=certificates) as extender:
            calls = extender.calls

            assert (await call(calls, "POST", "/filter", b"{}", tls=silent)).status == 403
            assert (await call(calls, "POST", "/filter", b"{}", tls=known)).status == 200
            assert (await call(calls, "GET", "/readyz", tls=silent)).status == 200

    run(work())


def test_answers_that_are_under_way_at_the_end_are_finished() -> None:
    world = World()
    world.add_node("a")

    async def work() -> None:
        cluster = Unwilling(world.store)
        async with running(cluster) as extender:
            pod = world.add_pod("train", gpu=1)
            cluster.held.clear()
            asked = asyncio.create_task(extender.filter(pod, "a"))
            await until(lambda: extender.live.tracking.reservations)
            asyncio.get_running_loop().call_later(0.2, cluster.held.set)
        assert (await asked)["NodeNames"] == ["a"]

    run(work())
