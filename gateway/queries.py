"""Unknown query parameters are refused: a misspelt one would go for one that is not there."""

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from urllib.parse import parse_qsl

from litestar import Litestar
from litestar.handlers import BaseRouteHandler
from litestar.routes import HTTPRoute

from gateway.requests import AnyRequest
from services.core.errors import BadRequest

NAME_CHARACTERS_MAX = 64  # of what the refusal repeats


def require_known_query(request: AnyRequest) -> None:
    """Raises BadRequest for a parameter that the operation does not have.

    Pages for people take any: whoever passes a link on may mark it with parameters of their own.
    """
    handler = request.route_handler
    if "says" in handler.opt:
        require_known(request.query_params.keys(), _known(request.app)[handler])


def require_no_query(query: bytes) -> None:
    """The same for an operation that has no parameters."""
    require_known((name for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True)), ())


def require_known(asked: Iterable[str], known: Collection[str]) -> None:
    """Raises BadRequest that names the first of `asked` that is not `known`."""
    for name in asked:
        if name not in known:
            there = f"there are {', '.join(sorted(known))}" if known else "there are none"
            raise BadRequest(name[:NAME_CHARACTERS_MAX] or "query", f"is no query parameter here; {there}")


@lru_cache(maxsize=1)
def _known(app: Litestar) -> Mapping[BaseRouteHandler, frozenset[str]]:
    """The names of query parameters, as Litestar reads them for each handler."""
    return {
        handler: frozenset(parameter.field_alias for parameter in reads.expected_query_params)
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for handler, reads in route.route_handler_map.values()
    }
