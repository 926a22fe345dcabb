"""Redis's protocol: commands to bytes, bytes to replies. Nothing here does I/O."""

import hiredis

from services.core.errors import StoreUnavailable

Part = bytes | str | int


class RedisRefused(Exception):
    """An error reply, as a value; `code` is its first word ("OOM", "WRONGTYPE", "ERR")."""

    @property
    def code(self) -> str:
        return str(self).partition(" ")[0]


Reply = int | bytes | None | RedisRefused | list["Reply"]


def settled(reply: Reply) -> Reply:
    """`reply` as it is. Raises StoreUnavailable for a refusal: no memory, no rights, a replica."""
    if isinstance(reply, RedisRefused):
        raise StoreUnavailable(f"Redis refused: {reply.code}") from reply
    return reply


def command(*parts: Part) -> bytes:
    """One command as it travels."""
    packed: bytes = hiredis.pack_command(parts)  # type: ignore[arg-type]  # its stub takes one part only
    return packed


class ReplyReader:
    """Cuts replies out of a byte stream, wherever the chunks end."""

    def __init__(self) -> None:
        self._reader = hiredis.Reader(protocolError=ValueError, replyError=RedisRefused)

    def feed(self, chunk: bytes) -> list[Reply]:
        """The replies that `chunk` completes. Raises ValueError for bytes that are not Redis's."""
        self._reader.feed(chunk)
        replies: list[Reply] = []
        while (reply := self._reader.gets()) is not False:
            replies.append(reply)
        return replies
