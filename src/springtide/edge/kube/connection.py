"""One API server: where it is, and how we show who we are.

Kubeconfig, exec plugins, TLS and proxies are the official client's business; we take its transport and
none of its decoding. Credentials that the server no longer takes are fetched anew, and the request is
sent once more.
"""

import asyncio
import logging
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

import aiohttp
import msgspec
from kubernetes.aio import client, config
from kubernetes.aio.config.kube_config import KubeConfigLoader

from springtide import __version__
from springtide.edge.cluster.errors import Broken, Malformed, TimedOut, Unreachable, Unusable
from springtide.edge.kube.kubeconfig import Kubeconfig, chosen
from springtide.edge.kube.transport import JSON, Answer, Query, Request

RESPONSE_BYTES_MAX: Final = 1 << 30
REQUEST_TIMEOUT_S: Final = 30.0
NO_TIMEOUT_S: Final = 3600.0
"""How long a request may take of which somebody wants no limit."""
GOODBYE_S: Final = 0.25
"""How long a connection that was given up may take to close, as the client's manual has it."""
RENEWAL_S_MIN: Final = 10.0
"""No more often are credentials fetched anew."""

_SCHEME: Final = "BearerToken"
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_LOADER: Final = logging.getLogger("kubernetes.aio.config.kube_config")
_UNKNOWN: Final = 401
# What the client raises for kubeconfigs that make no sense to it.
_MISFITS: Final = (config.ConfigException, ValueError, TypeError, KeyError, OSError)

Renew = Callable[[], Awaitable[bool]]
"""Fetches credentials anew and returns whether they are others, or raises Unusable."""


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """Which cluster, and how long a request may take; 0 is no limit of ours."""

    kubeconfig: str = ""
    context: str = ""
    timeout_s: float = REQUEST_TIMEOUT_S


class Connection:
    """An open connection, to be closed by leaving its block."""

    def __init__(
        self, name: str, api: client.ApiClient, *, timeout_s: float, renew: Renew | None = None
    ) -> None:
        self.name = name
        self._api = api
        self._timeout_s = timeout_s or NO_TIMEOUT_S
        self._renew = renew
        self._renewing = asyncio.Lock()
        self._renewed_s = -RENEWAL_S_MIN
        self._is_torn = False
        self._api.user_agent = f"springtide/{__version__}"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._api.close()
        if self._is_torn:
            # The client does not wait until TLS has said goodbye on connections that it gave up.
            await asyncio.sleep(GOODBYE_S)

    @property
    def server(self) -> str:
        """Return the address."""
        return str(self._api.configuration.host)

    async def get(self, path: str, query: Query) -> Answer:
        """Return what the server answers, or raise Unreachable, Malformed or Unusable."""
        return await self.send(Request(method="GET", path=path, query=query))

    async def send(self, request: Request) -> Answer:
        """Return what the server answers, or raise Unreachable, Malformed or Unusable."""
        with self._translated(), self._tearing():
            async with asyncio.timeout(self._timeout_s):
                response = await self._opened(request)
                body = await self._body(response)
        retry_after = response.headers.get("Retry-After", "")
        return Answer(status=response.status, body=body, retry_after=retry_after)

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator["Chunks"]:
        """Open an answer that goes on, or raise as `send` does."""
        with self._translated(), self._tearing():
            async with asyncio.timeout(self._timeout_s):
                response = await self._opened(Request(method="GET", path=path, query=query))
        try:
            yield Chunks(response, self._translated)
        finally:
            # What still comes is of no use, so the connection is not kept.
            _cut(response)

    async def _opened(self, request: Request) -> aiohttp.ClientResponse:
        begun_s = asyncio.get_running_loop().time()
        response = await self._response(request)
        if response.status == _UNKNOWN and await self._is_renewed(begun_s):
            response.close()
            response = await self._response(request)
        return response

    async def _response(self, request: Request) -> aiohttp.ClientResponse:
        method, url, headers, _, _ = await self._api.param_serialize(
            request.method,
            request.path,
            query_params=list(request.query),
            header_params={"Accept": JSON, "Content-Type": request.content_type},
            auth_settings=[_SCHEME],
        )
        answer = await self._api.call_api(
            method,
            url,
            headers,
            body=request.body,
            # We time requests as a whole, and streams not at all.
            _request_timeout=aiohttp.ClientTimeout(),
            _preload_content=False,
        )
        response: aiohttp.ClientResponse = answer.response
        return response

    async def _is_renewed(self, begun_s: float) -> bool:
        """Fetch credentials anew, unless somebody has since then; return whether there are new ones."""
        if self._renew is None:
            return False
        async with self._renewing:
            if self._renewed_s >= begun_s:
                return True
            now_s = asyncio.get_running_loop().time()
            if now_s - self._renewed_s < RENEWAL_S_MIN:
                return False
            is_other = await self._renew()
            self._renewed_s = now_s
            return is_other

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        try:
            return b"".join([part async for part in self._parts(response)])
        except BaseException:
            _cut(response)
            raise

    async def _parts(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        size = 0
        async for part in response.content.iter_any():
            size += len(part)
            if size > RESPONSE_BYTES_MAX:
                limit = RESPONSE_BYTES_MAX >> 20
                raise Malformed(f"{self.server} sent more than {limit} MiB for one page.")
            yield part

    @contextmanager
    def _tearing(self) -> Iterator[None]:
        """Remember that an answer was not waited for or not read to its end."""
        try:
            yield
        except BaseException:
            self._is_torn = True
            raise

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what the client raises into our faults."""
        try:
            yield
        except TimeoutError as fault:
            raise TimedOut(self._late()) from fault
        except aiohttp.ClientConnectorError as fault:
            raise Unreachable(self._apart(str(fault))) from fault
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, OSError) as fault:
            raise Broken(self._apart(f"the connection broke: {fault}")) from fault
        except (aiohttp.ClientError, ssl.SSLError) as fault:
            raise Unreachable(self._apart(str(fault))) from fault

    def _late(self) -> str:
        return (
            f"{self.server} gave no whole answer within {self._timeout_s:g} s. "
            "Check that it is up and can be reached from here, or allow more --request-timeout."
        )

    def _apart(self, why: str) -> str:
        return (
            f"{self.server} cannot be reached: {why}. "
            "Check that it is up, and the address and certificates in the kubeconfig."
        )


def _cut(response: aiohttp.ClientResponse) -> None:
    """Let go of a connection on which more is to come, without waiting for a farewell of TLS."""
    connection = response.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()
    response.close()


class Chunks:
    """The parts of an answer as they come."""

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        translated: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._response = response
        self._translated = translated

    @property
    def status(self) -> int:
        """Return the status."""
        return self._response.status

    @property
    def retry_after(self) -> str:
        """Return the header of this name, empty if there is none."""
        return self._response.headers.get("Retry-After", "")

    async def chunk(self) -> bytes:
        """Return what came next, empty at the end; or raise Unreachable."""
        with self._translated():
            return await self._response.content.readany()


async def connect(access: Access, *, environ: Mapping[str, str] = os.environ) -> Connection:
    """Return a connection to the cluster that is meant, or raise Unusable."""
    kubeconfig = chosen(access.kubeconfig, access.context, environ=environ)
    settings = client.Configuration()
    renew: Renew | None = None
    if kubeconfig is None:
        # Its token is read again every minute.
        _load_pod(settings, access)
        name = "in-cluster"
    else:
        await _load(settings, kubeconfig)
        name = kubeconfig.context
        renew = _renewal(settings, access, environ)
    # Go accepts authorities without the fields that newer checks of OpenSSL want.
    settings.disable_strict_ssl_verification = True
    if urlsplit(settings.host).hostname in _LOOPBACK and not settings.proxy:
        # As in Go, proxies of the environment are not for this machine.
        settings.client_session_kwargs = {"trust_env": False}
    try:
        api = client.ApiClient(configuration=settings)
    except (OSError, ValueError) as fault:
        raise Unusable(
            f"The certificates of {name} cannot be used: {fault}. Renew them."
        ) from fault
    return Connection(name, api, timeout_s=access.timeout_s, renew=renew)


def _renewal(settings: client.Configuration, access: Access, environ: Mapping[str, str]) -> Renew:
    """Return what reads the kubeconfig again and asks its plugin; certificates stay as they are."""

    async def renew() -> bool:
        before = dict(settings.api_key)
        again = chosen(access.kubeconfig, access.context, environ=environ)
        if again is not None:
            await _load(settings, again)
        return before != settings.api_key

    return renew


async def _load(settings: client.Configuration, kubeconfig: Kubeconfig) -> None:
    with _complaints() as complaints:
        try:
            loader = KubeConfigLoader(kubeconfig.document, config_base_path="")
            await loader.load_and_set(settings)
        except _MISFITS as fault:
            raise Unusable(_unusable(kubeconfig, fault)) from fault
    is_known = _SCHEME in settings.api_key or settings.cert_file
    if complaints and not is_known:
        raise Unusable(_unusable(kubeconfig, complaints[0]))


def _load_pod(settings: client.Configuration, access: Access) -> None:
    """Use the service account of the pod that we run in."""
    if access.context:
        raise Unusable(
            f'There is no kubeconfig that could have the context "{access.context}": '
            "name one with --kubeconfig or in KUBECONFIG."
        )
    try:
        config.load_incluster_config(client_configuration=settings)
    except config.ConfigException as fault:
        raise Unusable(
            "There is no kubeconfig, and this is no pod of a cluster: name a kubeconfig with "
            "--kubeconfig or in KUBECONFIG."
        ) from fault


def _unusable(kubeconfig: Kubeconfig, why: object) -> str:
    told = str(why).rstrip(". ")
    return (
        f'The context "{kubeconfig.context}" of the kubeconfig cannot be used: {told}. '
        "Log in again, correct it, or use another --context."
    )


class _Listening(logging.Handler):
    """Keeps what is complained about."""

    def __init__(self, heard: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        self._heard.append(record.getMessage())


@contextmanager
def _complaints() -> Iterator[list[str]]:
    """Collect what the client only logs: it goes on without credentials if a plugin fails."""
    heard: list[str] = []
    handler, propagates = _Listening(heard), _LOADER.propagate
    _LOADER.addHandler(handler)
    _LOADER.propagate = False
    try:
        yield heard
    finally:
        _LOADER.removeHandler(handler)
        _LOADER.propagate = propagates
