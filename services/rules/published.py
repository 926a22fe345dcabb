"""Events on their way to read models: what a spectator may know, as `PublishedEvent` messages."""

import msgspec
from waystation.events.v1.events_pb2 import PublishedEvent

from services.core.errors import BadRequest, NoSuchVersion
from services.core.ids import MatchId, StreamName, match_stream, stream_match
from services.core.match import Match
from services.core.shown import show_event
from services.rules.archive import Archive, Chapter
from services.rules.news import News

PAGE = 500

_encode = msgspec.json.Encoder().encode


def published(news: News) -> PublishedEvent:
    """What the relay sends of an event just stored."""
    return _message(news.match, Chapter(news.event, news.entry, news.previous), news.event_for(None))


class Published:
    """Events of any match, told again as they were told when they happened."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    async def after(self, id: MatchId, version: int) -> list[PublishedEvent]:
        """At most PAGE events after `version`, in order and without a gap; none at the end."""
        if version < 0:
            raise BadRequest("after", "is below 0")
        match = await self._archive.now(id)
        last = min(version + PAGE, match.version)
        chapters = await self._archive.chapters(match, version + 1, last)
        return [_retold(match, chapter) for chapter in chapters]

    async def payload(self, stream: StreamName, version: int) -> bytes:
        """The message for an event whose worker did not live to publish it. Raises NoSuchVersion."""
        match = await self._archive.now(stream_match(stream))
        chapters = await self._archive.chapters(match, version, min(version, match.version))
        if not chapters:
            raise NoSuchVersion(version, match.version)
        return _retold(match, chapters[0]).SerializeToString()


def _retold(match: Match, chapter: Chapter) -> PublishedEvent:
    # Told as of the event, not as of now: only the last event of a match is told after its end.
    over = match.outcome is not None and chapter.event.version == match.version
    return _message(match, chapter, _encode(show_event(match, chapter.event, None, over)))


def _message(match: Match, chapter: Chapter, event: bytes) -> PublishedEvent:
    return PublishedEvent(
        stream=match_stream(match.id),
        version=chapter.event.version,
        title=match.started.title,
        hash=chapter.entry.hash,
        previous_hash=chapter.previous,
        event=event,
        traceparent=chapter.event.traceparent,
    )
