"""What an answer leads to, as OpenAPI links: which operations its match, version or player can be sent to."""

from typing import Any, NamedTuple

Schema = dict[str, Any]


class Link(NamedTuple):
    """To the operation `to`. `parameters` and `body`: runtime expressions of OpenAPI."""

    to: str
    parameters: dict[str, str]
    body: Any = None


_MATCH = {"match": "$response.body#/match"}
_SAME = {"match": "$request.path.match"}
_AT_A_TABLE = ("get_match", "take_seat", "leave_seat", "start_table")
_AT_A_MATCH = (
    "list_legal_moves",
    "list_events",
    "get_record",
    "offer_draw",
    "request_takeback",
    "resign",
)
_ANYWHERE = [Link(to, _MATCH) for to in (*_AT_A_TABLE, *_AT_A_MATCH)]
_GO_ON = [Link(to, _MATCH) for to in ("get_match", *_AT_A_MATCH)]
_VERSION = "$response.body#/version"

LINKS: dict[str, list[Link]] = {
    "create_player": [
        Link("list_player_matches", {"player": "$response.body#/player"}),
    ],
    "create_table": _ANYWHERE,
    "quick_match": _ANYWHERE,
    "take_seat": _ANYWHERE,
    "start_table": _GO_ON,
    "list_matches": [Link("get_match", {"match": "$response.body#/matches/0/match"})],
    "list_player_matches": [Link("get_match", {"match": "$response.body#/matches/0/match"})],
    "list_legal_moves": [
        Link("submit_move", _SAME, {"move": "$response.body#/choices/0/move", "expected_version": _VERSION})
    ],
    "submit_move": _GO_ON,
    "offer_draw": [Link("answer_draw", {**_MATCH, "offer": _VERSION}), *_GO_ON],
    "request_takeback": [Link("answer_takeback", {**_MATCH, "takeback": _VERSION}), *_GO_ON],
    "answer_draw": _GO_ON,
    "answer_takeback": _GO_ON,
}


def links_of(operation: str) -> Schema:
    """The `links` of the operation's success; empty for one that leads nowhere in particular."""
    return {link.to: _written(link) for link in LINKS.get(operation, ())}


def _written(link: Link) -> Schema:
    written: Schema = {"operationId": link.to}
    if link.parameters:
        written["parameters"] = link.parameters
    if link.body is not None:
        written["requestBody"] = link.body
    return written
