"""Redis's protocol, RESP 2: commands to bytes, bytes to replies. Nothing here does I/O."""

from services.core.errors import StoreUnavailable

Part = bytes | str | int

_STRING, _ARRAY = b"$*"  # as numbers: what the replies begin with that make up an entry


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
    return b"*%d\r\n" % len(parts) + packed(*parts)


def packed(*parts: Part) -> bytes:
    """Some parts of a command, without the count of all that comes first."""
    chunks = []
    for part in parts:
        raw = part if isinstance(part, bytes) else str(part).encode()
        chunks.append(b"$%d\r\n%b\r\n" % (len(raw), raw))
    return b"".join(chunks)


class ReplyReader:
    """Cuts replies out of a byte stream, wherever the chunks end."""

    def __init__(self) -> None:
        self._rest = b""
        self._complete: list[Reply] = []
        self._filling: tuple[list[Reply], int] = self._complete, -1  # the innermost array begun, its length
        self._around: list[tuple[list[Reply], int]] = []  # the ones it lies in, outermost first

    def feed(self, chunk: bytes) -> list[Reply]:
        """The replies that `chunk` completes. Raises ValueError for bytes that are not RESP 2."""
        buffer = self._rest + chunk if self._rest else chunk
        items, length = self._filling
        at = 0
        # An entry of a stream is seven elements: what one element costs here is what reading costs.
        while (end := buffer.find(b"\r\n", at)) >= 0:
            kind, after = buffer[at], end + 2
            if kind == _STRING and (size := int(buffer[at + 1 : end])) >= 0:
                stop = after + size
                if len(buffer) < stop + 2:
                    break
                items.append(buffer[after:stop])
                at = stop + 2
            elif kind == _ARRAY and (size := int(buffer[at + 1 : end])) > 0:
                self._around.append((items, length))
                items, length = [], size
                at = after
                continue
            else:
                items.append(_one_line(kind, buffer[at + 1 : end]))
                at = after
            while len(items) == length:
                whole = items
                items, length = self._around.pop()
                items.append(whole)
        self._rest = buffer[at:]
        self._filling = items, length
        complete = self._complete[:]
        self._complete.clear()
        return complete


def _one_line(kind: int, line: bytes) -> Reply:
    match chr(kind):
        case ":":
            return int(line)
        case "+":
            return line
        case "-":
            return RedisRefused(line.decode(errors="replace"))
        case "$":
            return None
        case "*":
            return [] if line == b"0" else None
        case other:
            raise ValueError(f"no reply of RESP 2 begins with {other!r}")
