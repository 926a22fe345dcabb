"""Redis's protocol, RESP 2: commands to bytes, bytes to replies. Nothing here does I/O."""

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
        self._open: list[tuple[list[Reply], int]] = []  # arrays begun, outermost first, with their lengths

    def feed(self, chunk: bytes) -> list[Reply]:
        """The replies that `chunk` completes. Raises ValueError for bytes that are not RESP 2."""
        buffer = self._rest + chunk if self._rest else chunk
        complete: list[Reply] = []
        at = 0
        while (end := buffer.find(b"\r\n", at)) >= 0:
            kind, line, after = buffer[at], buffer[at + 1 : end], end + 2
            value: Reply
            if kind == 0x24 and line != b"-1":  # "$", a string: its length, then its bytes
                stop = after + int(line)
                if len(buffer) < stop + 2:
                    break
                value = buffer[after:stop]
                after = stop + 2
            elif kind == 0x2A and line not in (b"0", b"-1"):  # "*", an array: its length, then its items
                self._open.append(([], int(line)))
                at = after
                continue
            else:
                value = _one_line(kind, line)
            at = after
            self._close(value, complete)
        self._rest = buffer[at:]
        return complete

    def _close(self, value: Reply, complete: list[Reply]) -> None:
        """Puts `value` where it belongs, with every array that it completes."""
        while self._open:
            items, length = self._open[-1]
            items.append(value)
            if len(items) < length:
                return
            self._open.pop()
            value = items
        complete.append(value)


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
