"""Looks at a page of a program behind a Service, by way of the API server's proxy.

Whoever may do that needs no way to the network of the cluster. The program is found by a label of its
Service; of several Services the first counts whose answer is one that the caller knows.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Final
from urllib.parse import quote

import msgspec

from springtide.edge.kube.connection import Access, Connection, connect
from springtide.edge.kube.refusals import list_fault
from springtide.edge.kube.transport import Answer, Query

SERVICES: Final = "/api/v1/services"
SERVICES_MAX: Final = 8
"""So many Services are asked at the most."""
_OK: Final = 200
_HTTPS: Final = "https"
_HTTPS_PORT: Final = 443


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked at: a path with its query, of Services with these labels."""

    selector: str
    path: str
    query: Query = ()


class _Metadata(msgspec.Struct, frozen=True):
    name: str
    namespace: str


class _Port(msgspec.Struct, frozen=True, rename="camel"):
    port: int
    name: str = ""
    app_protocol: str | None = None

    @property
    def is_tls(self) -> bool:
        """Return whether TLS is spoken there, as far as the Service tells."""
        return self.port == _HTTPS_PORT or _HTTPS in (self.name, self.app_protocol)


class _Spec(msgspec.Struct, frozen=True):
    ports: Sequence[_Port] = ()


class _Service(msgspec.Struct, frozen=True):
    metadata: _Metadata
    spec: _Spec = _Spec()


class _Services(msgspec.Struct, frozen=True):
    items: Sequence[_Service] = ()


_DECODER: Final = msgspec.json.Decoder(_Services)


def looked_at(access: Access, page: Page, *, accepts: Callable[[Answer], bool]) -> Answer | None:
    """Return the first answer that is accepted, None if there is none; or raise ClusterFault."""
    return asyncio.run(_looked_at(access, page, accepts))


async def _looked_at(
    access: Access, page: Page, accepts: Callable[[Answer], bool]
) -> Answer | None:
    async with await connect(access) as connection:
        for prefix in await _prefixes(connection, page.selector):
            answer = await connection.get(f"{prefix}{page.path}", page.query)
            if accepts(answer):
                return answer
    return None


async def _prefixes(connection: Connection, selector: str) -> list[str]:
    query = (("labelSelector", selector), ("limit", str(SERVICES_MAX)))
    answer = await connection.get(SERVICES, query)
    if answer.status != _OK:
        raise list_fault(answer, SERVICES)
    return [prefix for each in _DECODER.decode(answer.body).items for prefix in _proxied(each)]


def _proxied(service: _Service) -> Iterator[str]:
    """Yield where the API server lets the Service be spoken to: where TLS is spoken, or else anywhere."""
    ports = service.spec.ports
    secure = [each for each in ports if each.is_tls]
    for each in secure or ports:
        scheme = _HTTPS if each.is_tls else "http"
        name = f"{scheme}:{quote(service.metadata.name)}:{each.port}"
        yield f"/api/v1/namespaces/{quote(service.metadata.namespace)}/services/{name}/proxy"
