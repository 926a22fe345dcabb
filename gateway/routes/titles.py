"""Titles: what can be played, and everything a client needs to know to play it."""

from litestar import Response, get
from msgspec import Struct

from gateway.bodies import answered
from gateway.parts import Parts
from gateway.says import says
from gateway.titles import Title, TitleSummary, summary
from services.core import errors


class TitleList(Struct, frozen=True):
    """All titles, by slug."""

    titles: list[TitleSummary]


@get("/v1/titles", tags=["titles"], opt=says(TitleList))
async def list_titles(parts: Parts) -> Response[bytes]:
    """Every title there is; `available` says whether a match of it can be created now."""
    return answered(TitleList([summary(title) for title in parts.titles.all()]))


@get("/v1/titles/{title:str}", tags=["titles"], opt=says(Title, refuses=(errors.NoSuchTitle,)))
async def get_title(title: str, parts: Parts) -> Response[bytes]:
    """A title: seats, JSON Schemas of options, moves and views, and its rules."""
    return answered(parts.titles.get(title))
