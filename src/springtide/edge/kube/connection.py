"""One API server to read from: where it is, and how we show who we are.

Kubeconfig, exec plugins, token refresh, TLS and proxies are the official client's business; we take
its transport and none of its decoding. Only GET is ever sent.
"""

import logging
import os
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Protocol, Self
from urllib.parse import urlsplit

import aiohttp
import msgspec
from kubernetes.aio import client, config
from kubernetes.aio.config.kube_config import KubeConfigLoader

from springtide import __version__
from springtide.edge.kube.errors import Broken, Malformed, Unreachable, Unusable
from springtide.edge.kube.kubeconfig import Kubeconfig, chosen

RESPONSE_BYTES_MAX: Final = 1 << 30
REQUEST_TIMEOUT_S: Final = 30.0
NO_TIMEOUT_S: Final = 3600.0
"""How long a request may take of which somebody wants no limit."""

_SCHEME: Final = "BearerToken"
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_LOADER: Final = logging.getLogger("kubernetes.aio.config.kube_config")
# What the client raises for kubeconfigs that make no sense to it.
_MISFITS: Final = (config.ConfigException, ValueError, TypeError, KeyError, OSError)
Query = Sequence[tuple[str, str]]


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """Which cluster, and how long a request may take; 0 is no limit of ours."""

    kubeconfig: str = ""
    context: str = ""
    timeout_s: float = REQUEST_TIMEOUT_S


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a server sent back."""

    status: int
    body: bytes
    retry_after: str = ""


class Get(Protocol):
    """Asks one server; whoever calls looks at the status."""

    async def __call__(self, path: str, query: Query) -> Answer:
        """Return the answer, or raise Unreachable or Malformed."""
        ...


class Connection:
    """An open connection, to be closed by leaving its block."""

    def __init__(self, name: str, api: client.ApiClient, timeout_s: float) -> None:
        self.name = name
        self._api = api
        self._timeout_s = timeout_s or NO_TIMEOUT_S
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

    @property
    def server(self) -> str:
        """Return the address."""
        return str(self._api.configuration.host)

    async def get(self, path: str, query: Query) -> Answer:
        """Return what the server answers, or raise Unreachable, Malformed or Unusable."""
        try:
            return await self._answer(path, query)
        except TimeoutError as fault:
            raise Unreachable(self._late()) from fault
        except aiohttp.ClientConnectorError as fault:
            raise Unreachable(self._apart(str(fault))) from fault
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, OSError) as fault:
            raise Broken(self._apart(f"the connection broke: {fault}")) from fault
        except (aiohttp.ClientError, ssl.SSLError) as fault:
            raise Unreachable(self._apart(str(fault))) from fault

    async def _answer(self, path: str, query: Query) -> Answer:
        method, url, headers, _, _ = await self._api.param_serialize(
            "GET",
            path,
            query_params=list(query),
            header_params={"Accept": "application/json"},
            auth_settings=[_SCHEME],
        )
        response = await self._api.call_api(
            method, url, headers, _request_timeout=self._timeout_s, _preload_content=False
        )
        body = await self._body(response.response)
        return Answer(
            status=response.status,
            body=body,
            retry_after=response.headers.get("Retry-After", ""),
        )

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        parts: list[bytes] = []
        size = 0
        async with response:
            async for part in response.content.iter_any():
                size += len(part)
                if size > RESPONSE_BYTES_MAX:
                    limit = RESPONSE_BYTES_MAX >> 20
                    raise Malformed(f"{self.server} sent more than {limit} MiB for one page.")
                parts.append(part)
        return b"".join(parts)

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


async def connect(access: Access, *, environ: Mapping[str, str] = os.environ) -> Connection:
    """Return a connection to the cluster that is meant, or raise Unusable."""
    kubeconfig = chosen(access.kubeconfig, access.context, environ=environ)
    settings = client.Configuration()
    if kubeconfig is None:
        _load_pod(settings, access)
        name = "in-cluster"
    else:
        await _load(settings, kubeconfig)
        name = kubeconfig.context
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
    return Connection(name, api, access.timeout_s)


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
