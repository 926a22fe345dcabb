"""Traces by OpenTelemetry, where an operator wants them: OTEL_EXPORTER_OTLP_ENDPOINT switches them on.

Otherwise the SDK is never imported, and a span is one shared object that does nothing. A trace begins
with a request (a span of kind `server`); other spans outside of one are not recorded.

What a span may hold: names of routes, methods and titles, match ids, versions, codes and reasons. Never
players, moves, views, seeds, or the text of an error.
"""

import os
from collections.abc import Mapping
from typing import Literal, Protocol, Self

Kind = Literal["internal", "server", "client", "producer", "consumer"]
Attribute = str | int

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class Span:
    """A span that nobody records.

    As a context it is the parent of the spans inside, and ends with it; a DomainError marks it as failed.
    """

    @property
    def traceparent(self) -> str:
        """W3C, for whoever goes on with the trace; empty for none."""
        return ""

    def tell(self, **attributes: Attribute) -> None: ...

    def rename(self, name: str) -> None: ...

    def fail(self, reason: str) -> None: ...

    def end(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        return None


class Recorder(Protocol):
    """Where spans come from while tracing is on: `services.kit.tracing_sdk`."""

    def span(self, name: str, kind: Kind, parent: str, attributes: Mapping[str, Attribute]) -> Span: ...

    def current(self) -> Span | None: ...

    def close(self) -> None: ...


NOTHING = Span()
_recorder: Recorder | None = None


def configure(service: str, environ: Mapping[str, str] = os.environ) -> None:
    """Switches tracing on if the standard variables of OpenTelemetry ask for it; the SDK reads the rest."""
    global _recorder
    is_wanted = any(environ.get(name, "").strip() for name in _ENDPOINTS)
    is_refused = (
        environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
        or environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
    )
    if is_wanted and not is_refused and _recorder is None:
        from services.kit.tracing_sdk import SdkRecorder

        _recorder = SdkRecorder(service)


def close() -> None:
    """Sends what is left, as far as that is soon done, and switches tracing off."""
    global _recorder
    if _recorder is not None:
        _recorder.close()
    _recorder = None


def is_on() -> bool:
    return _recorder is not None


def span(name: str, kind: Kind = "internal", parent: str = "", **attributes: Attribute) -> Span:
    """A span that has begun: enter it, or end it yourself.

    `parent`: the traceparent that came from elsewhere; without one it is the span that was entered last.
    """
    if _recorder is None:
        return NOTHING
    return _recorder.span(name, kind, parent, attributes)


def traceparent(otherwise: str = "") -> str:
    """Of the span that was entered last; `otherwise` outside of all."""
    current = None if _recorder is None else _recorder.current()
    return otherwise if current is None else current.traceparent


def trace_id(otherwise: str = "") -> str:
    """Of the present trace, 32 hexadecimal digits; without one, that of the traceparent `otherwise`."""
    return traceparent(otherwise)[3:35]
