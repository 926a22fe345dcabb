"""Query parameters that cannot be meant are refused.

A misspelt one would go for one that is not there, and of a repeated one the first or the last would count.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl

from litestar import Litestar
from litestar.handlers import BaseRouteHandler
from litestar.routes import HTTPRoute

from gateway.requests import AnyRequest
from services.core.errors import BadRequest

NAME_CHARACTERS_MAX = 64  # of what the refusal repeats


class Known(NamedTuple):
    """The names of an operation's parameters. `lists`: those that may come more than once."""

    names: Collection[str] = ()
    lists: Collection[str] = ()


def require_known_query(request: AnyRequest) -> None:
    """Raises BadRequest for a parameter that the operation does not have, or has once only.

    Pages for people take any: whoever passes a link on may mark it with parameters of their own.
    """
    handler = request.route_handler
    if "says" in handler.opt:
        require_known(request.query_params.items(), _known(request.app)[handler])


def require_no_query(query: bytes) -> None:
    """The same for an operation that has no parameters."""
    require_known(parse_qsl(query.decode("latin-1"), keep_blank_values=True), Known())


def require_known(asked: Iterable[tuple[str, str]], known: Known) -> None:
    """Raises BadRequest that names the first of `asked` that is not `known`, or is there once too often."""
    seen = set()
    for name, _ in asked:
        if name not in known.names:
            there = f"there are {', '.join(sorted(known.names))}" if known.names else "there are none"
            raise BadRequest(name[:NAME_CHARACTERS_MAX] or "query", f"is no query parameter here; {there}")
        if name in seen and name not in known.lists:
            raise BadRequest(name, "is there more than once")
        seen.add(name)


@lru_cache(maxsize=1)
def _known(app: Litestar) -> Mapping[BaseRouteHandler, Known]:
    """Query parameters as Litestar reads them for each handler."""
    return {
        handler: Known(
            names={each.field_alias for each in reads.expected_query_params},
            lists={each.field_alias for each in reads.expected_query_params if each.is_sequence},
        )
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for handler, reads in route.route_handler_map.values()
    }
