"""The document of this API, for machines and for people, and a page for every reason of a refusal."""

from html import escape
from http import HTTPStatus

from litestar import MediaType, Response, get
from litestar.exceptions import NotFoundException
from litestar.response import Redirect

from gateway.bodies import passed
from gateway.openapi import document_of
from gateway.parts import Parts
from gateway.problems import title_of, type_of
from gateway.requests import AnyRequest
from services.core.errors import DomainError
from services.kit.statuses import TABLE


@get("/", include_in_schema=False)
async def front_door() -> Redirect:
    """People who come without a path are shown what there is."""
    return Redirect("/docs")


@get("/openapi.json", include_in_schema=False)
async def openapi(request: AnyRequest, parts: Parts) -> Response[bytes]:
    """OpenAPI 3.1, with the schemas of the titles that are there now."""
    return passed(document_of(request.app).text(parts.titles.all()))


@get("/docs", include_in_schema=False, media_type=MediaType.HTML)
async def docs(request: AnyRequest, parts: Parts) -> str:
    """The same to read."""
    return document_of(request.app).page(parts.titles.all())


@get("/errors", include_in_schema=False, media_type=MediaType.HTML)
async def list_errors() -> str:
    """All reasons."""
    reasons = sorted({error.reason for error in TABLE})
    items = "".join(f"<li><a href={type_of(reason)}>{escape(title_of(reason))}</a>" for reason in reasons)
    return f"<!doctype html><meta charset=utf-8><title>Errors</title><h1>Errors</h1><ul>{items}</ul>"


@get("/errors/{name:str}", include_in_schema=False, media_type=MediaType.HTML)
async def describe_error(name: str) -> str:
    """What a reason means, and whether to try again."""
    reason = name.upper().replace("-", "_")
    if (error := next((error for error in TABLE if error.reason == reason), None)) is not None:
        status = TABLE[error]
        again = "The same request may be accepted later." if status.retryable else _UNCHANGED
        return _described(
            reason, f"{_about(error)} {error.says[0].upper()}{error.says[1:]}.", status.http, again
        )
    if (of_http := HTTPStatus.__members__.get(reason)) is not None and of_http >= HTTPStatus.BAD_REQUEST:
        return _described(reason, of_http.description, of_http, _UNCHANGED)
    raise NotFoundException(f"no error is called {name}")


_UNCHANGED = "Repeating it unchanged is of no use."


def _about(error: type[DomainError]) -> str:
    # A dataclass without a docstring of its own is given its signature as one.
    text = error.__doc__ or ""
    return "" if text.startswith(error.__name__) else text.splitlines()[0]


def _described(reason: str, about: str, status: int, again: str) -> str:
    title = escape(title_of(reason))
    return (
        f"<!doctype html><meta charset=utf-8><title>{title}</title><h1>{title}</h1><p>{escape(about)}</p>"
        f"<p>Reason <code>{reason}</code>, HTTP status {status:d}. {again}</p>"
    )
