"""The commonest frame in either direction without the library: a whole text, RFC 6455, section 5.2."""

from typing import Final

from websockets.frames import Opcode, apply_mask  # type: ignore[attr-defined]  # in C if there is one

_WHOLE_TEXT: Final = 0x80 | Opcode.TEXT  # FIN, no extension
_MASKED: Final = 0x80
_LENGTH: Final = 0x7F
_IN_TWO_BYTES, _IN_EIGHT_BYTES = 126, 127
_HEAD_BYTES: Final = 4  # tell how long a frame of less than 64 KiB is
_NEVER: Final = 1 << 62  # further than a connection goes
FRAMES_MAX = 340  # of one read that are walked through


def head_of_text(length: int) -> bytes:
    """What goes before a text of a server without extensions."""
    if length < _IN_TWO_BYTES:
        return bytes((_WHOLE_TEXT, length))
    if length < 1 << 16:
        return bytes((_WHOLE_TEXT, _IN_TWO_BYTES)) + length.to_bytes(2, "big")
    return bytes((_WHOLE_TEXT, _IN_EIGHT_BYTES)) + length.to_bytes(8, "big")


def text_of(data: bytes) -> bytes | None:
    """A client's text, if `data` is one frame with a whole text of less than 64 KiB and nothing else."""
    if len(data) < 6 or data[0] != _WHOLE_TEXT or data[1] < _MASKED:
        return None
    end = _end(data, 0)
    if end != len(data):
        return None
    begin = 6 if data[1] & _LENGTH < _IN_TWO_BYTES else 8
    return apply_mask(data[begin:], data[begin - 4 : begin])


class Walk:
    """From frame to frame through what a client sends, however it is cut. Begins where a frame does."""

    __slots__ = ("_head", "_rest")

    def __init__(self) -> None:
        self._head = b""  # of a frame: what has come of it, while that is too little to tell its length
        self._rest = 0  # of a frame: how many bytes are still to come

    def ends_with(self, data: bytes) -> bool:
        """Whether the last frame ends where `data` does, which is what came next.

        Never again after a frame without a mask, one of 64 KiB or more, or too many of them at once.
        """
        data = self._head + data
        at, frames = self._rest, 0
        while at + _HEAD_BYTES <= len(data):
            frames += 1
            at = _end(data, at) if frames <= FRAMES_MAX else _NEVER
        self._head = data[at:]
        self._rest = max(0, at - len(data))
        return at == len(data)


def _end(data: bytes, at: int) -> int:
    """Where the frame that begins at `at` ends; its first bytes must be there."""
    if data[at + 1] < _MASKED:
        return _NEVER
    length = data[at + 1] & _LENGTH
    if length < _IN_TWO_BYTES:
        return at + 6 + length
    if length == _IN_TWO_BYTES:
        return at + 8 + int.from_bytes(data[at + 2 : at + 4], "big")
    return _NEVER
