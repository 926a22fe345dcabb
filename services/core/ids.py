"""Names of things, as types: a player is not a match, and a stream is neither."""

from typing import NewType

Slug = NewType("Slug", str)  # a title: "make_way"
MatchId = NewType("MatchId", str)  # a table and its match share this id
PlayerId = NewType("PlayerId", str)
StreamName = NewType("StreamName", str)  # "match/<id>" or "table/<id>"; each counts its own versions


def match_stream(match: MatchId) -> StreamName:
    return StreamName(f"match/{match}")


def table_stream(match: MatchId) -> StreamName:
    return StreamName(f"table/{match}")


def stream_match(stream: StreamName) -> MatchId:
    """The match id that `stream` belongs to."""
    return MatchId(stream.partition("/")[2])
