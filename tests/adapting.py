"""An adapter that runs over a stand-in API server and Prometheus, called over TLS on loopback."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import trustme

from springtide.apps.adapter import Deadlines, Endpoints, Process, Served, Settings, Times
from springtide.apps.adapter.upstream import Upstream
from springtide.edge.kube.transport import Answer, Query, Request
from springtide.edge.machine import MachineCalendar, MachineClock
from springtide.edge.prometheus import Access, Prometheus
from springtide.edge.serving import CertificateFiles, Certificates, Listener, listening
from springtide.engine.metrics import Metric, Role
from tests import loopback
from tests.loopback import Told, call
from tests.promapi import PromApi
from tests.running import until

E: Final = "hpa_expect_replicas"
S: Final = "hpa_stateful_index"
CHAT: Final = "labelSelector=hpa_target_name%3Dchat"
ROOT: Final = "/apis/external.metrics.k8s.io/v1beta1"
FRONT: Final = "front-proxy-client"
HPA: Final = "X-Remote-User: hpa\r\nX-Remote-Group: system:authenticated\r\n"

EXPECTED: Final = Metric(name=E, series=(E, f"{E}_count"), role=Role.EXPECTED)
INDEX: Final = Metric(name=S, series=(S, f"{S}_count"), role=Role.INDEX, checks_members=True)
SERVED: Final = (Served(metric=EXPECTED), Served(metric=INDEX))


def value_path(metric: str, namespace: str = "game", query: str = CHAT) -> str:
    """Return where a metric is asked for."""
    return f"{ROOT}/namespaces/{namespace}/{metric}?{query}"


class Authority:
    """The API server as far as the adapter asks it: who is known, who may, and what workloads there are."""

    def __init__(self) -> None:
        self.front_ca = trustme.CA()
        self.names: tuple[str, ...] = (FRONT,)
        self.tokens: dict[str, str] = {}
        self.denied: set[str] = set()
        self.scales: dict[str, Mapping[str, Any]] = {}
        self.pods: list[Mapping[str, Any]] = []
        self.records: dict[str, Mapping[str, str]] = {}
        self.is_down = False
        self.forbidden: set[str] = set()
        self.asked: list[Request] = []

    async def send(self, request: Request) -> Answer:
        """Answer one request."""
        self.asked.append(request)
        if self.is_down:
            return Answer(status=500, body=b"{}")
        if request.path.rpartition("/")[2] in self.forbidden:
            return Answer(status=403, body=b"{}")
        found = self._found(request)
        if found is None:
            return Answer(status=404, body=b"{}")
        return Answer(
            status=201 if request.method == "POST" else 200, body=json.dumps(found).encode()
        )

    def stream(self, path: str, query: Query) -> Any:
        """Follow nothing."""
        raise AssertionError("the adapter follows nothing")

    def of(self, word: str) -> list[Request]:
        """Return the requests whose path has a word."""
        return [each for each in self.asked if word in each.path]

    def _found(self, request: Request) -> Any:
        path = request.path
        if path.endswith("/extension-apiserver-authentication"):
            data = {
                "requestheader-client-ca-file": self.front_ca.cert_pem.bytes().decode(),
                "requestheader-allowed-names": json.dumps(self.names),
            }
            return {"data": data}
        if path.endswith("/tokenreviews"):
            assert request.body is not None
            name = self.tokens.get(request.body["spec"]["token"])
            return {"status": {"authenticated": bool(name), "user": {"username": name or ""}}}
        if path.endswith("/subjectaccessreviews"):
            assert request.body is not None
            return {"status": {"allowed": request.body["spec"]["user"] not in self.denied}}
        if path.endswith("-hpa-records"):
            name = path.rpartition("/")[2]
            kept = self.records.get(name.removesuffix("-hpa-records"))
            return None if kept is None else {"metadata": {"name": name}, "data": kept}
        if path.endswith("/pods"):
            return {"items": self.pods}
        return self.scales.get(path)

    def scale(
        self,
        name: str,
        *,
        replicas: int,
        running: int,
        namespace: str = "game",
        resource: str = "statefulsets",
    ) -> None:
        """Set the scale of a workload."""
        path = f"/apis/apps/v1/namespaces/{namespace}/{resource}/{name}/scale"
        status = {"replicas": running, "selector": f"app={name}"}
        self.scales[path] = {"spec": {"replicas": replicas}, "status": status}


class Standing:
    """An adapter that runs, and calls to it."""

    def __init__(self, process: Process, endpoints: Endpoints, log: Told, pki: "Pki") -> None:
        assert endpoints.pages is not None
        self.process = process
        self.calls: Listener = endpoints.calls
        self.pages: Listener = endpoints.pages
        self.certificates = endpoints.certificates
        self.log = log
        self.pki = pki

    async def ask(
        self, path: str, *, by: str = HPA, tls: ssl.SSLContext | None = None
    ) -> loopback.Answer:
        """Ask as the front proxy does, for somebody."""
        return await call(self.calls, "GET", path, extra=by, tls=tls or self.pki.front_proxy())

    async def value(self, metric: str, *, query: str = CHAT, namespace: str = "game") -> str:
        """Return the value of a metric, or the code and reason of its refusal."""
        answer = await self.ask(value_path(metric, namespace, query))
        document = json.loads(answer.body)
        if answer.status != 200:
            return f"{answer.status} {document['message'].partition(':')[0]}"
        (item,) = document["items"]
        return str(item["value"])


class Pki:
    """The adapter's own certificate, and those of its callers."""

    def __init__(self, folder: Path, authority: Authority) -> None:
        self.folder = folder
        self.serving_ca = trustme.CA()
        self._authority = authority
        self.files = CertificateFiles(
            certificate=str(folder / "tls.pem"), key=str(folder / "tls.key")
        )
        self.renew()

    def renew(self) -> None:
        """Write a new certificate of the server."""
        pair = self.serving_ca.issue_cert("localhost")
        pair.cert_chain_pems[0].write_to_path(self.files.certificate)
        pair.private_key_pem.write_to_path(self.files.key)

    def front_proxy(self, name: str = FRONT, ca: trustme.CA | None = None) -> ssl.SSLContext:
        """Return what shows the certificate of a front proxy."""
        context = self.stranger()
        (ca or self._authority.front_ca).issue_cert(
            f"{name}.test", common_name=name
        ).configure_cert(context)
        return context

    def stranger(self) -> ssl.SSLContext:
        """Return what shows no certificate."""
        context = ssl.create_default_context()
        self.serving_ca.configure_trust(context)
        return context


@asynccontextmanager
async def adapting(
    folder: Path,
    authority: Authority,
    prometheus: PromApi,
    *,
    served: Sequence[Served] = SERVED,
    upstream: Upstream | None = None,
    serves_custom_metrics: bool = False,
) -> AsyncIterator[Standing]:
    """Run an adapter while the block is entered; it must have found no bug."""
    log, pki, stop = Told(), Pki(folder, authority), asyncio.Event()
    calls, pages = listening("127.0.0.1:0"), listening("127.0.0.1:0")
    async with Prometheus(Access(url=prometheus.url)) as client:
        process = Process(
            authority,
            client,
            settings=Settings(
                served=tuple(served),
                serves_custom_metrics=serves_custom_metrics,
                deadlines=Deadlines(drain_s=1.0),
            ),
            times=Times(MachineClock(), MachineCalendar()),
            log=log,
            upstream=upstream,
        )
        endpoints = Endpoints(calls=calls, certificates=Certificates(pki.files), pages=pages)
        task = asyncio.create_task(process.run(endpoints, stop))
        try:
            await _serving(log, task)
            yield Standing(process, endpoints, log, pki)
        finally:
            stop.set()
            try:
                await task
            finally:
                calls.socket.close()
                pages.socket.close()
    assert not log.of("bug"), log.of("bug")


async def _serving(log: Told, task: asyncio.Task[None]) -> None:
    await until(lambda: log.of("serving") or task.done())
    if task.done():
        task.result()
