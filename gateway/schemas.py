"""JSON Schemas of everything that crosses the gateway: its own structs, and what the titles say of theirs."""

from collections.abc import Iterable
from typing import Any

import msgspec

from gateway.live.frames import (
    ByeFrame,
    ClientFrame,
    EventFrame,
    GreetingFrame,
    HeadFrame,
    ReceiptFrame,
    TableFrame,
    ViewFrame,
)
from gateway.titles import Title

Schema = dict[str, Any]

PREFIX = "#/components/schemas/"
_SERVER_FRAMES = (GreetingFrame, TableFrame, ViewFrame, EventFrame, ReceiptFrame, HeadFrame, ByeFrame)

PROBLEM: Schema = {
    "title": "Problem",
    "description": "A refusal, RFC 9457. Branch on `reason`; the facts of the refusal are further members.",
    "type": "object",
    "properties": {
        "type": {"type": "string", "description": "Path of a page that describes the reason."},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "One sentence for people."},
        "instance": {"type": "string", "description": "The path that was asked for."},
        "reason": {"type": "string", "description": "UPPER_SNAKE and stable."},
    },
    "required": ["type", "title", "status", "detail", "instance", "reason"],
}
PROBLEM_FRAME: Schema = {
    "title": "ProblemFrame",
    "description": "A refusal over a socket; its facts are further members. `id`: of the frame it answers. "
    "`match`: what it is about.",
    "type": "object",
    "properties": {
        "type": {"enum": ["problem"]},
        "id": {"type": "string"},
        "match": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "reason": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail", "reason"],
}


def ref(name: str) -> Schema:
    return {"$ref": PREFIX + name}


def components(types: Iterable[Any], titles: Iterable[Title]) -> Schema:
    """Schemas by name: of `types` and the frames, with the titles' own in place of what passes through."""
    shipped = list(titles)
    kinds = [*types, *_SERVER_FRAMES, ClientFrame]
    (*_, client_frame), ours = msgspec.json.schema_components(kinds, ref_template=PREFIX + "{name}")
    ours |= {
        "Problem": PROBLEM,
        "ProblemFrame": PROBLEM_FRAME,
        "ClientFrame": client_frame,
        "ServerFrame": _any_of([*(kind.__name__ for kind in _SERVER_FRAMES), "ProblemFrame"]),
    }
    for title in shipped:
        ours |= _of_title(title)
    _tie(ours, shipped)
    return ours


def _of_title(title: Title) -> Schema:
    """A title's own schemas under names of its own: "wayfare.move"."""
    schemas = title.schemas
    named = {**schemas.definitions, "options": schemas.options, "move": schemas.move, "view": schemas.view}
    return {f"{title.slug}.{name}": _moved(schema, title.slug) for name, schema in named.items()}


def _moved(schema: Any, slug: str) -> Any:
    """`schema` with its references pointing to the components of title `slug`."""
    if isinstance(schema, list):
        return [_moved(item, slug) for item in schema]
    if not isinstance(schema, dict):
        return schema
    moved = {key: _moved(value, slug) for key, value in schema.items()}
    if isinstance(there := schema.get("$ref"), str):
        moved["$ref"] = f"{PREFIX}{slug}.{there.removeprefix('#/$defs/')}"
    return moved


def _tie(ours: Schema, titles: list[Title]) -> None:
    """Replaces what the gateway passes through unread by the schemas of its titles."""
    slugs: list[str] = [title.slug for title in titles]
    if not slugs:
        return
    ours["Move"] = {
        "description": "A move of the match's title.",
        **_any_of([f"{slug}.move" for slug in slugs]),
    }
    for struct in ("NewMove", "MoveFrame", "LegalMove"):
        ours[struct]["properties"]["move"] = ref("Move")
    for struct in ("NewTable", "QuickMatch"):
        wish = ours.pop(struct)
        for title in titles:
            ours[f"{title.slug}.{struct}"] = _wish(wish, title)
        ours[struct] = _one_of_titles(slugs, struct)
    shown = ours.pop("MatchView")
    for slug in slugs:
        ours[f"{slug}.MatchView"] = _match_view(shown, slug)
    ours["MatchView"] = _one_of_titles(slugs, "MatchView")
    for struct in ("ViewFrame", "ReceiptFrame", "Receipt", "EventFrame"):
        ours[struct]["properties"]["view"] = ref("MatchView")
    ours["EventFrame"]["properties"]["event"] = ref("ShownEvent")


def _match_view(shown: Schema, slug: str) -> Schema:
    own = {"title": {"enum": [slug]}, "options": ref(f"{slug}.options"), "view": ref(f"{slug}.view")}
    return {**shown, "properties": {**shown["properties"], **own}}


def _wish(wish: Schema, title: Title) -> Schema:
    """A table of `title`: its options, and as many seats as it has."""
    seats = [0, *range(title.seats.min, title.seats.max + 1)]
    own = {
        "title": {"enum": [title.slug]},
        "options": {"default": {}, **ref(f"{title.slug}.options")},
        "seats": {**wish["properties"]["seats"], "enum": seats},
    }
    return {**wish, "properties": {**wish["properties"], **own}}


def _one_of_titles(slugs: list[str], struct: str) -> Schema:
    mapping = {slug: f"{PREFIX}{slug}.{struct}" for slug in slugs}
    return {
        "oneOf": [ref(f"{slug}.{struct}") for slug in slugs],
        "discriminator": {"propertyName": "title", "mapping": mapping},
    }


def _any_of(names: list[str]) -> Schema:
    # Not oneOf: two titles may have a move that looks the same.
    return {"anyOf": [ref(name) for name in names]}
