"""uvicorn's HTTP protocol, with the bounds that it lacks: on the head of a request, and on its patience."""

import asyncio
from http import HTTPStatus

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.problems import MEDIA_TYPE, problem_of_status

HEAD_BYTES_MAX = 32 * 1024
SLICE_BYTES = 4 * 1024
# From the first byte of a request to its last, and from connecting to the first request.
REQUEST_S_MAX = 20.0


class HttpProtocol(HttpToolsProtocol):
    """One connection. Without these a peer could grow a header, or keep a request open, for ever."""

    _empty_bytes = 0  # received since a head, a part of a body or a request was last complete
    _completed = 0  # how often one was
    _is_rest_dropped = False  # what came with a request for another protocol, behind it
    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """In slices: how much of a large read is head would show only once all of it is parsed."""
        self._is_rest_dropped = False
        for begin in range(0, len(data), SLICE_BYTES):
            self._slice_received(data[begin : begin + SLICE_BYTES])
            if self._is_rest_dropped or self.transport.is_closing():
                return

    def _slice_received(self, data: bytes) -> None:
        completed = self._completed
        super().data_received(data)
        if self._completed != completed:
            self._empty_bytes = 0
            return
        self._empty_bytes += len(data)
        if self._empty_bytes > HEAD_BYTES_MAX and not self.transport.is_closing():
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            self._refuse(status, f"a head or a trailer has at most {HEAD_BYTES_MAX} bytes")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._wait()

    def on_headers_complete(self) -> None:
        self._completed += 1
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._completed += 1
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._completed += 1
        super().on_message_complete()
        self._stop_waiting()

    def handle_websocket_upgrade(self) -> None:
        self._stop_waiting()
        self._is_rest_dropped = True
        super().handle_websocket_upgrade()

    def _unsupported_upgrade_warning(self) -> None:
        self._is_rest_dropped = True
        super()._unsupported_upgrade_warning()

    def send_400_response(self, msg: str) -> None:
        self._refuse(HTTPStatus.BAD_REQUEST, msg)

    def _wait(self) -> None:
        self._stop_waiting()
        self._patience = self.loop.call_later(REQUEST_S_MAX, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _refuse(self, status: HTTPStatus, detail: str) -> None:
        """Answers before there is a request that the application could answer, and hangs up."""
        body = msgspec.json.encode(problem_of_status(status, detail, "").members)
        head = (
            f"HTTP/1.1 {status:d} {status.phrase}\r\ncontent-type: {MEDIA_TYPE}\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
