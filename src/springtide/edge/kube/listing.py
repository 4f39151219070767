"""All objects of one kind, page by page, as the bytes that the server sent.

A list that can no longer be continued is started again, and after RESTARTS_MAX times asked for in one
piece, as kubectl does. A page is cut off from its neighbours only by what it says of itself: no object
is decoded here.
"""

from collections.abc import AsyncGenerator
from typing import Final

import msgspec

from springtide.edge.cluster.errors import Gone, Malformed, NotServed
from springtide.edge.kube.asking import Patience, ask
from springtide.edge.kube.transport import Get, Query
from springtide.wire.k8s.resources import Resource

PAGE_OBJECTS: Final = 500
RESTARTS_MAX: Final = 2


class _Metadata(
    msgspec.Struct,
    frozen=True,
    rename={"continuation": "continue", "resource_version": "resourceVersion"},
):
    continuation: str = ""
    resource_version: str = ""


class Page(msgspec.Struct, frozen=True):
    """What every list has; the objects stay as they are."""

    kind: str
    items: msgspec.Raw = msgspec.Raw(b"[]")
    metadata: _Metadata = _Metadata()

    @property
    def version(self) -> str:
        """Return the version of the whole list."""
        return self.metadata.resource_version


_PAGE: Final = msgspec.json.Decoder(Page)


async def pages(get: Get, resource: Resource, *, patience: Patience) -> list[bytes]:
    """Return the pages of a list in the first version that is served, or raise ClusterFault."""
    for version in resource.versions[:-1]:
        try:
            return await _restarted(get, resource, version, patience)
        except NotServed:
            continue
    return await _restarted(get, resource, resource.versions[-1], patience)


async def _restarted(get: Get, resource: Resource, version: str, patience: Patience) -> list[bytes]:
    for _ in range(1 + RESTARTS_MAX):
        try:
            return await _listed(get, resource, version, patience, page_objects=PAGE_OBJECTS)
        except Gone:
            continue
    return await _listed(get, resource, version, patience, page_objects=0)


async def _listed(
    get: Get, resource: Resource, version: str, patience: Patience, *, page_objects: int
) -> list[bytes]:
    path = resource.path(version)
    fixed = [("labelSelector", resource.selector)] if resource.selector else []
    listing = paged(get, path, fixed, patience=patience, page_objects=page_objects)
    return [body async for _, body in listing]


async def paged(
    get: Get, path: str, query: Query, *, patience: Patience, page_objects: int = PAGE_OBJECTS
) -> AsyncGenerator[tuple[Page, bytes], None]:
    """Yield each page with its bytes, or raise ClusterFault; 0 objects asks for all in one piece."""
    fixed = [*query, ("limit", str(page_objects))] if page_objects else [*query]
    token, seen = "", {""}
    while True:
        asked = [*fixed, ("continue", token)] if token else fixed
        body = await ask(get, path, asked, patience=patience)
        page = _page(body, path)
        yield page, body
        token = page.metadata.continuation
        if not token:
            return
        if token in seen:
            raise Malformed(f"The list of {path} leads back to a page that was read already.")
        seen.add(token)


def _page(body: bytes, path: str) -> Page:
    try:
        page = _PAGE.decode(body)
    except msgspec.DecodeError as fault:
        raise _malformed(path, str(fault)) from fault
    if not page.kind.endswith("List"):
        raise _malformed(path, f"its kind is {page.kind}")
    return page


def _malformed(path: str, why: str) -> Malformed:
    return Malformed(
        f"What came for {path} is no list of objects ({why}). "
        "Check that the kubeconfig names an API server."
    )
