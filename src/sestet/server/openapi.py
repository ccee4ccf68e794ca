"""The OpenAPI document, made from the table of endpoints."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from starlette.responses import Response

from sestet import __version__
from sestet.core.record import fields, json_schemas, to_json
from sestet.server.endpoint import Body, Call, Endpoint, NoQuery
from sestet.server.errors import STATUS, ErrorBody, ErrorCode

Json: TypeAlias = dict[str, Any]  # a part of the document

PATH = "/api/openapi.json"
_TEMPLATE = "#/components/schemas/{name}"
_PARAMETER = re.compile(r"{(\w+)}")
_STREAM = "text/event-stream"
_NUMBER: Json = {"type": "integer", "minimum": 0, "maximum": 10**18 - 1}
#: What a part of a path stands for, and its schema; a text if it is not here.
_PARTS: dict[str, tuple[str, Json]] = {
    "agent": ("The name of an agent.", {"type": "string"}),
    "approval": ("The id of a question.", {"type": "string"}),
    "changes": ("The number of a set of changes.", _NUMBER),
    "delegation": ("The id of a delegation.", {"type": "string"}),
    "fact": ("The number of a fact.", _NUMBER),
    "grant": ("The number of a standing answer.", _NUMBER),
    "lesson": ("The number of a lesson.", _NUMBER),
    "memory": (
        "The id of a memory: m3 is a fact, o3 an observation, r3 a reflection.",
        {"type": "string", "pattern": "^[mor][0-9]{1,18}$"},
    ),
    "seq": ("The number of an event in its turn.", _NUMBER),
    "session": ("The id of a conversation.", {"type": "string", "pattern": r"^[\w.@:+][\w.@:+-]{0,63}$"}),
    "turn": ("The id of a turn.", {"type": "string"}),
}
#: The errors that every request can meet.
_ALWAYS: tuple[ErrorCode, ...] = (
    "bad_request",
    "unauthorized",
    "forbidden",
    "too_large",
    "misdirected",
    "too_many_requests",
    "internal",
    "unavailable",
)
_MEANINGS: dict[ErrorCode, str] = {
    "bad_request": "The request cannot be understood, or asks for something that is not possible.",
    "unauthorized": "There is no valid token.",
    "forbidden": "The scope of the token does not allow it, or a page of another site asks.",
    "not_found": "There is no such thing.",
    "conflict": "The state of the thing does not allow it now.",
    "too_large": "The body is too large.",
    "unsupported_media_type": "The body has another media type.",
    "misdirected": "The server does not answer to this host name.",
    "too_many_requests": "The token makes too many requests, or has too many open streams.",
    "internal": "A bug of Sestet; the server's log has the details.",
    "unavailable": "The server is stopping, or the database is busy.",
}


def endpoint_of(others: Sequence[Endpoint]) -> Endpoint:
    """The endpoint that gives the document of the others and of itself."""

    @cache
    def written() -> bytes:
        return to_json(document((*others, itself)))

    async def openapi(call: Call[None, NoQuery]) -> Response:
        return Response(written(), media_type="application/json")

    itself = Endpoint("GET", PATH, openapi, "This API as an OpenAPI document.", ("chat", "read"), answer=Json)
    return itself


def document(endpoints: Iterable[Endpoint]) -> Json:
    """Every endpoint in the form of OpenAPI 3.1."""
    table = tuple(endpoints)
    schemas = _Schemas(table)
    paths: dict[str, Json] = {}
    for endpoint in table:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sestet",
            "version": __version__,
            "description": "Conversations with the assistant, and the data and settings that it works with.",
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": {code: _error(code, schemas) for code in _MEANINGS},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The owner's token, or one that 'sestet tokens new NAME' makes.",
                }
            },
        },
    }


class _Schemas:
    """The JSON Schemas of everything that requests and answers hold."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self._types: list[Any] = [ErrorBody]
        for each in endpoints:
            self._types += [kind for kind in (each.body, each.query, each.answer) if kind is not None]
        self._schemas, components = json_schemas(self._types, ref_template=_TEMPLATE)
        self.components: dict[str, Any] = dict(components)
        #: The schema of each query: its fields are parameters, and no component.
        self.queries: dict[type[Body], Json] = {}
        for query in {each.query for each in endpoints}:
            self.queries[query] = self.components.pop(query.__name__)

    def of(self, kind: object) -> Json:
        return self._schemas[self._types.index(kind)]


def _operation(endpoint: Endpoint, schemas: _Schemas) -> Json:
    owner = "the owner's token"
    others = " or ".join(f"the scope '{scope}'" for scope in endpoint.scopes)
    operation: Json = {
        "operationId": endpoint.handle.__name__,
        "summary": endpoint.summary,
        "description": f"Needs {f'a token with {others}, or {owner}' if others else owner}.",
        "tags": [endpoint.path.split("/")[2].removesuffix(".json")],
        "parameters": [*_path_parameters(endpoint.path), *_query_parameters(endpoint.query, schemas)],
        "responses": {str(endpoint.status): _success(endpoint, schemas), **_errors(endpoint)},
    }
    if endpoint.stream and endpoint.query is not NoQuery:
        description = "The id of the last event that was seen; the same as the parameter 'after'."
        operation["parameters"].append(
            {"name": "Last-Event-ID", "in": "header", "description": description, "schema": _PLACE}
        )
    if endpoint.body is not None:
        content = {"application/json": {"schema": schemas.of(endpoint.body)}}
        operation["requestBody"] = {"required": True, "content": content}
    if endpoint.takes:
        content: Json = {endpoint.takes: {"schema": {}}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


_PLACE: Json = {"type": "string", "pattern": r"^([0-9]{1,9}\.[0-9]{1,9})?$"}


def _path_parameters(path: str) -> list[Json]:
    described = ((name, *_PARTS[name]) for name in _PARAMETER.findall(path))
    return [
        {"name": name, "in": "path", "required": True, "description": description, "schema": schema}
        for name, description, schema in described
    ]


def _query_parameters(query: type[Body], schemas: _Schemas) -> list[Json]:
    properties: Mapping[str, Json] = schemas.queries[query].get("properties", {})
    return [
        {
            "name": field.encode_name,
            "in": "query",
            "required": field.required,
            "schema": properties[field.encode_name],
        }
        for field in fields(query)
    ]


def _success(endpoint: Endpoint, schemas: _Schemas) -> Json:
    described: Json = {"description": endpoint.summary}
    if endpoint.stream:
        described["content"] = _content(_STREAM)
    elif endpoint.answer is not None:
        described["content"] = {"application/json": {"schema": schemas.of(endpoint.answer)}}
        for kind in endpoint.gives:
            described["content"] |= _content(kind)
    return described


def _content(kind: str) -> Json:
    # Of a stream a schema would describe each event, and these have many forms.
    return {kind: {} if kind == _STREAM else {"schema": {"type": "string"}}}


def _errors(endpoint: Endpoint) -> Json:
    codes: set[ErrorCode] = {*_ALWAYS}
    if "{" in endpoint.path or endpoint.query is not NoQuery or endpoint.method != "GET":
        codes |= {"not_found", "conflict"}
    if endpoint.body is not None or endpoint.takes:
        codes |= {"unsupported_media_type"}
    return {
        str(status): {"$ref": f"#/components/responses/{code}"}
        for code, status in STATUS.items()
        if code in codes
    }


def _error(code: ErrorCode, schemas: _Schemas) -> Json:
    content = {"application/json": {"schema": schemas.of(ErrorBody)}}
    return {"description": _MEANINGS[code], "content": content}
