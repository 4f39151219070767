"""OpenAPI 3.1 of HTTP endpoints: what each takes and answers, and the document that says so.

The schemas are made from the types of the bodies, so that the document cannot tell of fields that are not
there. It serves nothing: whoever serves names the same endpoints in its table of routes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, Literal

import msgspec

OPENAPI: Final = "3.1.0"
JSON: Final = "application/json"
TEXT: Final = "text/plain; charset=utf-8"

Schema = dict[str, Any]
Schemas = Mapping[Any, Schema]


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """A body, by the type of what it holds; `description` says when it is this one."""

    holds: Any = str
    media_type: str = JSON
    description: str = ""


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """What may be said beside the body. A part of the path must be, the others need not.

    `pattern` is the form of the text, `choices` are all that may be said; empty means anything.
    """

    name: str
    description: str
    place: Literal["path", "query", "header"] = "query"
    is_flag: bool = False
    pattern: str = ""
    choices: tuple[str, ...] = ()


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One method of one path; `{names}` in the path stand for anything without `/` and `:`.

    One that `is_public` is answered to everybody, whoever else must show who they are. A reply of None has
    no body.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    summary: str
    description: str = ""
    body: Content | None = None
    replies: Mapping[int, Content | None]
    parameters: tuple[Parameter, ...] = ()
    is_public: bool = False


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What the document as a whole is about."""

    title: str
    version: str
    description: str


def document(about: About, endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """Return the document."""
    schemas, components = _schemas(endpoints)
    paths: dict[str, Schema] = {}
    for each in endpoints:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each, schemas)
    return {
        "openapi": OPENAPI,
        "info": msgspec.to_builtins(about),
        "paths": paths,
        "components": {"schemas": {name: components[name] for name in sorted(components)}},
    }


def _schemas(endpoints: Iterable[Endpoint]) -> tuple[Schemas, dict[str, Schema]]:
    held = list(dict.fromkeys(each.holds for each in _contents(endpoints)))
    made, components = msgspec.json.schema_components(
        held, ref_template="#/components/schemas/{name}"
    )
    return dict(zip(held, made, strict=True)), components


def _contents(endpoints: Iterable[Endpoint]) -> Iterator[Content]:
    for each in endpoints:
        yield from (content for content in each.replies.values() if content is not None)
        if each.body is not None:
            yield each.body


def _operation(each: Endpoint, schemas: Schemas) -> Schema:
    made: Schema = {"summary": each.summary}
    if each.description:
        made["description"] = each.description
    if each.parameters:
        made["parameters"] = [_parameter(parameter) for parameter in each.parameters]
    if each.body is not None:
        made["requestBody"] = {"required": True, **_content(each.body, schemas)}
    made["responses"] = {
        str(status): {
            "description": HTTPStatus(status).phrase,
            **({} if content is None else _content(content, schemas)),
        }
        for status, content in sorted(each.replies.items())
    }
    return made


def _content(content: Content, schemas: Schemas) -> Schema:
    made: Schema = {"content": {content.media_type: {"schema": schemas[content.holds]}}}
    if content.description:
        made["description"] = content.description
    return made


def _parameter(parameter: Parameter) -> Schema:
    made: Schema = {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": parameter.description,
        "schema": {"type": "string"},
    }
    if parameter.pattern:
        made["schema"]["pattern"] = parameter.pattern
    if parameter.choices:
        made["schema"]["enum"] = list(parameter.choices)
    if parameter.is_flag:
        made["allowEmptyValue"] = True
    return made
