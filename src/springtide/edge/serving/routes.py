"""Which path and method does what: the table by which an application answers.

A route is an endpoint, as the document of the API tells of it, and what answers it. Paths are looked up as
they are written; those with `{names}` are tried after that, in the order of the table.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from springtide.edge.serving.bodies import Limits
from springtide.edge.serving.replies import Reply, in_words
from springtide.wire.openapi import Endpoint

_NAME: Final = re.compile(r"\\\{(\w+)\\\}")
_HEAD: Final = "HEAD"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One request with its whole body.

    `values` are what stands in the path in the place of its `{names}`, `peer` is the certificate of the
    caller, None if it shows none, and `client` who that is to whoever let it in.
    """

    path: str
    headers: Iterable[tuple[bytes, bytes]] = ()
    values: Mapping[str, str] = {}
    query: Mapping[str, list[str]] = {}
    peer: Mapping[str, Any] | None = None
    client: str = ""
    body: bytes | bytearray = b""

    def header(self, name: str) -> str:
        """Return a header by its name in lower case, empty if it is not there."""
        key = name.encode()
        return next((value for each, value in self.headers if each == key), b"").decode("latin-1")


Answer = Callable[[Asked], Awaitable[Reply]]
Refuse = Callable[[str, int], Reply]
"""Words the answer to a body that cannot be read, from what is wrong and the status that it means."""


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint and what answers it; `limits` are those of its body.

    `refuse` words what is wrong with a body, `crowded` that there is no room for it now.
    """

    endpoint: Endpoint
    answer: Answer
    limits: Limits | None = None
    refuse: Refuse = in_words
    crowded: Refuse = in_words


class Found(msgspec.Struct, frozen=True):
    """The routes of one path by method, and what stands in the place of its names."""

    methods: Mapping[str, Route]
    values: Mapping[str, str] = {}

    @property
    def allowed(self) -> str:
        """Return the methods as the header of a refusal lists them."""
        return ", ".join(sorted(self.methods))


class Routes:
    """A table of routes."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.listed = tuple(routes)
        methods: dict[str, dict[str, Route]] = {}
        for each in self.listed:
            of_path = methods.setdefault(each.endpoint.path, {})
            assert each.endpoint.method not in of_path, f"{each.endpoint.path} is there twice"
            assert (each.limits is None) == (each.endpoint.body is None), "a body has limits"
            of_path[each.endpoint.method] = each
            if each.endpoint.method == "GET":
                of_path[_HEAD] = each
        self._plain = {path: Found(each) for path, each in methods.items() if "{" not in path}
        self._named = [
            (_pattern(path), each) for path, each in methods.items() if path not in self._plain
        ]

    def find(self, path: str) -> Found | None:
        """Return what is behind a path, None if there is nothing."""
        found = self._plain.get(path)
        if found is not None:
            return found
        for pattern, methods in self._named:
            if match := pattern.fullmatch(path):
                return Found(methods, match.groupdict())
        return None


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(_NAME.sub(r"(?P<\1>[^/:]+)", re.escape(path)))
