"""The OpenAPI 3.1 document: operations from Litestar, bodies and refusals from what the routes say."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from functools import lru_cache
from http import HTTPStatus
from inspect import signature
from typing import Any, NamedTuple

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from gateway.links import links_of
from gateway.page import page_of
from gateway.places import MATCH_ID
from gateway.problems import MEDIA_TYPE
from gateway.says import JSON, Says
from gateway.schemas import Schema, components, ref
from gateway.titles import Title
from services.core import errors
from services.core.errors import DomainError
from services.kit.statuses import TABLE, Unexpected

_INTRODUCTION = """\
A backend for turn-based board games. Get a player (`POST /v1/players`), create a table or take a seat, and
play: a command is accepted once it is stored, and answered with a receipt. Refusals have stable reasons.
A query parameter that an operation does not have is refused by name (`BAD_REQUEST`), never ignored.

Commands take an `Idempotency-Key`; repeating one with the same key is answered and never carried out twice.
Live play is over WebSocket at `/v1/live` (many matches) or `/v1/matches/{match}/live[?after=version]` (one),
with the frames `ClientFrame` and `ServerFrame`. Without an Authorization header the first frame is a `hello`.
"""
_SECURITY = {"player": {"type": "http", "scheme": "bearer", "description": "A player's or operator's token."}}
_ALWAYS = (errors.BadRequest, errors.TooManyRequests, Unexpected)
_NOISE = {"deprecated", "allowEmptyValue", "allowReserved"}


class Route(NamedTuple):
    """One operation: where it is in the document, and what answers it."""

    path: str
    method: str
    handler: HTTPRouteHandler
    says: Says


class Document:
    """The document as JSON and as a page; written again when a title comes or changes."""

    def __init__(self, app: Litestar) -> None:
        self._routes = list(_routes(app))
        self._generated = app.openapi_schema.to_schema()
        self._titles: tuple[Title, ...] = ()
        self._text, self._page = b"", ""

    def text(self, titles: Iterable[Title]) -> bytes:
        self._write(tuple(titles))
        return self._text

    def page(self, titles: Iterable[Title]) -> str:
        """The document as HTML."""
        self._write(tuple(titles))
        return self._page

    def _write(self, titles: tuple[Title, ...]) -> None:
        if not self._text or self._titles != titles:
            document = self.written(titles)
            self._titles, self._text, self._page = titles, msgspec.json.encode(document), page_of(document)

    def written(self, titles: Iterable[Title]) -> Schema:
        """The document as plain data."""
        document = deepcopy(self._generated)
        document["info"]["description"] = _INTRODUCTION
        for route in self._routes:
            path = document["paths"][route.path]
            path[route.method] = _operation(path[route.method], route)
        document["components"] = {
            "schemas": components(_types(self._routes), titles),
            "securitySchemes": _SECURITY,
        }
        return document


@lru_cache(maxsize=1)
def document_of(app: Litestar) -> Document:
    return Document(app)


def _routes(app: Litestar) -> Iterator[Route]:
    for route in app.routes:
        if not isinstance(route, HTTPRoute):
            continue
        for handler in route.route_handlers:
            if isinstance(handler, HTTPRouteHandler) and "says" in handler.opt:
                for method in handler.http_methods:
                    yield Route(route.path_format, str(method).lower(), handler, handler.opt["says"])


def _types(routes: Iterable[Route]) -> list[Any]:
    """Every struct that some route reads or answers."""
    types = [kind for route in routes for kind in route.says.answers if isinstance(kind, type)]
    types += [route.says.body.type for route in routes if route.says.body is not None]
    return list(dict.fromkeys(types))


def _operation(generated: Schema, route: Route) -> Schema:
    summary, _, description = (route.handler.fn.__doc__ or "").partition("\n\n")
    operation: Schema = {
        "operationId": route.handler.handler_name,
        "summary": summary.split(". ")[0].rstrip("."),
        "description": " ".join(f"{summary} {description}".split()),
        "tags": generated["tags"],
        "parameters": [_parameter(parameter) for parameter in generated.get("parameters", ())],
        "responses": _responses(generated, route),
    }
    asks_for = signature(route.handler.fn).parameters
    if asks_for.keys() & {"sender", "guarded", "operator"}:
        operation["security"] = [{"player": []}]
    elif "reader" in asks_for:  # for everybody, and with a token for its player
        operation["security"] = [{"player": []}, {}]
    if route.says.body is not None:
        schema = ref(route.says.body.type.__name__)
        required = any(field.required for field in msgspec.structs.fields(route.says.body.type))
        operation["requestBody"] = {"content": {JSON: {"schema": schema}}, "required": required}
    return operation


def _parameter(generated: Schema) -> Schema:
    """Without what Litestar adds to all of them; a parameter that is not there is left out, not null."""
    schema = generated["schema"]
    kinds = [kind for kind in schema.pop("oneOf", ()) if kind != {"type": "null"}]
    schema |= kinds[0] if kinds else {}
    if isinstance(schema.get("type"), list):
        schema["type"] = next(kind for kind in schema["type"] if kind != "null")
    if "enum" in schema:
        schema["enum"] = [value for value in schema["enum"] if value is not None]
    schema.pop("description", None)
    if schema.get("type") == "integer" and schema.get("default") == "":  # see VERSION_SCHEMA
        del schema["default"]
    if (generated["in"], generated["name"]) == ("path", "match"):
        schema["pattern"] = f"^{MATCH_ID}$"
    return {name: value for name, value in generated.items() if name not in _NOISE}


def _responses(generated: Schema, route: Route) -> Schema:
    success = next(status for status in generated["responses"] if status.startswith("2"))
    says = route.says
    refuses = [*_ALWAYS, *says.refuses]
    if route.method != "get":  # a body is read even where none is wanted
        refuses.append(errors.TooLarge)
    return {
        success: {
            "description": HTTPStatus(int(success)).phrase,
            "content": {says.media_type: {"schema": _answer(says.answers)}},
            "headers": {name: {"schema": {"type": "string"}} for name in says.headers},
            "links": links_of(route.handler.handler_name),
        },
        **_refusals(refuses),
        **({"304": {"description": "Not Modified"}} if _reads(generated, "If-None-Match") else {}),
        **({"412": _refusal([errors.VersionConflict.reason])} if _reads(generated, "If-Match") else {}),
    }


def _reads(generated: Schema, header: str) -> bool:
    return any(parameter["name"] == header for parameter in generated.get("parameters", ()))


def _answer(answers: tuple[Any, ...]) -> Schema:
    schemas = [ref(kind.__name__) if isinstance(kind, type) else kind for kind in answers]
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}


def _refusals(refuses: Iterable[type[DomainError]]) -> Schema:
    """A response for each status, with the reasons that it may have."""
    # A path may always be none of ours: what stands for a parameter may hold a slash.
    reasons: dict[str, set[str]] = {str(HTTPStatus.NOT_FOUND.value): {HTTPStatus.NOT_FOUND.name}}
    for error in refuses:
        reasons.setdefault(str(TABLE[error].http), set()).add(error.reason)
    return {status: _refusal(sorted(named)) for status, named in sorted(reasons.items())}


def _refusal(reasons: list[str]) -> Schema:
    schema = {**ref("Problem"), "properties": {"reason": {"enum": reasons}}}
    return {"description": ", ".join(reasons), "content": {MEDIA_TYPE: {"schema": schema}}}
