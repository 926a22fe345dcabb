"""The commonest frame in either direction without the library: a whole text, RFC 6455, section 5.2."""

from typing import Final

from websockets.frames import Opcode, apply_mask  # type: ignore[attr-defined]  # in C if there is one

_WHOLE_TEXT: Final = 0x80 | Opcode.TEXT  # FIN, no extension
_MASKED: Final = 0x80
_LENGTH: Final = 0x7F
_IN_TWO_BYTES, _IN_EIGHT_BYTES = 126, 127


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


def is_whole(data: bytes) -> bool:
    """Whether `data`, which begins with a client's frame, ends with one of less than 64 KiB."""
    at = 0
    while at < len(data):
        at = _end(data, at)
    return at == len(data)


def _end(data: bytes, at: int) -> int:
    """Where the frame that begins at `at` ends; beyond all data when that cannot be told."""
    if len(data) < at + 4 or data[at + 1] < _MASKED:
        return len(data) + 1
    length = data[at + 1] & _LENGTH
    if length < _IN_TWO_BYTES:
        return at + 6 + length
    if length == _IN_TWO_BYTES:
        return at + 8 + int.from_bytes(data[at + 2 : at + 4], "big")
    return len(data) + 1
