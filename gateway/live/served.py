"""A frame of a client as operators see it: one span, and one line in the log."""

import time

from gateway.callers import traceparent_of
from gateway.live.frames import ClientFrame, Ordered
from services.core.errors import DomainError
from services.kit import request_log, tracing
from services.kit.statuses import http_status


class Served:
    """One frame while it is answered: enter it, and end it with `close`."""

    def __init__(self, frame: ClientFrame, traceparent: str) -> None:
        """`traceparent`: the connection's, for frames that come with none of their own."""
        own = traceparent_of(frame.traceparent) if isinstance(frame, Ordered) else ""
        self.traceparent = own or traceparent
        self._kind = str(frame.__struct_config__.tag)
        self._began = time.perf_counter()
        self._span = tracing.span(f"frame {self._kind}", "server", self.traceparent)

    def __enter__(self) -> "Served":
        self._span.__enter__()
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self._span.__exit__(kind, error, traceback)

    def close(self, refusal: DomainError | None, match: str, player: str, request_id: str) -> None:
        took_s = time.perf_counter() - self._began
        if refusal is not None:
            self._span.fail(refusal.reason)
        code = 200 if refusal is None else http_status(refusal)
        level = request_log.level(code, took_s)
        if level is not None:
            request_log.tell(
                level,
                "frame",
                self._kind,
                code,
                took_s,
                reason="" if refusal is None else refusal.reason,
                match=match,
                player=player,
                request_id=request_id,
                trace_id=tracing.trace_id(self.traceparent),
            )


def turned_away(refusal: DomainError, player: str, traceparent: str) -> None:
    """The line of a frame that could not be read, or was one too many."""
    code = http_status(refusal)
    level = request_log.level(code, 0.0)
    if level is not None:
        trace_id = tracing.trace_id(traceparent)
        request_log.tell(
            level, "frame", "unread", code, 0.0, reason=refusal.reason, player=player, trace_id=trace_id
        )
