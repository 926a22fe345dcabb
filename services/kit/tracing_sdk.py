"""Spans that are recorded and exported by OTLP over HTTP. Imported only while tracing is on.

The SDK reads its own variables: OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_BSP_*,
OTEL_EXPORTER_OTLP_*. A thread of the SDK exports; when its queue is full, spans are dropped.
"""

import os
import re
from collections.abc import Mapping
from contextvars import ContextVar, Token
from threading import Thread
from typing import Self

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_NAMESPACE, Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, StatusCode, TraceFlags

from services.core.errors import DomainError
from services.kit.tracing import NOTHING, Attribute, Kind, Span

CLOSE_S_MAX = 2.0
ATTRIBUTE_CHARACTERS_MAX = 256

_KINDS = {kind.name.lower(): kind for kind in SpanKind}
_PREFIX = "waystation."
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")

_current: ContextVar["Recorded | None"] = ContextVar("span", default=None)


class Recorded(Span):
    """A span of the SDK, begun."""

    def __init__(self, span: trace.Span) -> None:
        self.is_over = False
        self._span = span
        self._token: Token[Recorded | None] | None = None

    @property
    def context(self) -> Context:
        """What a child begins in."""
        return trace.set_span_in_context(self._span, Context())

    @property
    def traceparent(self) -> str:
        told = self._span.get_span_context()
        return f"00-{told.trace_id:032x}-{told.span_id:016x}-{told.trace_flags:02x}"

    def tell(self, **attributes: Attribute) -> None:
        for name, value in attributes.items():
            self._span.set_attribute(_PREFIX + name, value)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def fail(self, reason: str) -> None:
        """`reason`: a word of ours; the text of an error may hold what nobody may see."""
        self._span.set_status(StatusCode.ERROR, reason)

    def end(self) -> None:
        self.is_over = True
        self._span.end()

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if isinstance(error, DomainError):
            self.fail(error.reason)
        elif error is not None:
            self.fail(type(error).__name__)
        if self._token is not None:
            _current.reset(self._token)
        self.end()


class SdkRecorder:
    """One process's spans on their way to the collector."""

    def __init__(self, service: str) -> None:
        named = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: service}
        self._provider = TracerProvider(
            resource=Resource.create({SERVICE_NAMESPACE: "waystation", **named}),
            span_limits=SpanLimits(max_attribute_length=ATTRIBUTE_CHARACTERS_MAX),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("waystation")

    def span(self, name: str, kind: Kind, parent: str, attributes: Mapping[str, Attribute]) -> Span:
        context = _told(parent)
        if context is None:
            around = self.current()
            if around is not None:
                context = around.context
            elif kind != "server":
                return NOTHING
        begun = self._tracer.start_span(
            name,
            context or Context(),
            _KINDS[kind],
            {_PREFIX + name: value for name, value in attributes.items()},
        )
        return Recorded(begun)

    def current(self) -> Recorded | None:
        """Tasks that outlive the request in which they were begun are no longer part of it."""
        entered = _current.get()
        return None if entered is None or entered.is_over else entered

    def close(self) -> None:
        # By itself it may wait for 30 s where the collector is away.
        closing = Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        closing.join(CLOSE_S_MAX)


def _told(traceparent: str) -> Context | None:
    """The context that a peer's traceparent names; None for none, or for one that is not valid."""
    found = _TRACEPARENT.fullmatch(traceparent)
    if found is None:
        return None
    trace_id, span_id, flags = (int(part, 16) for part in found.groups())
    told = SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(flags & 1))
    return trace.set_span_in_context(NonRecordingSpan(told), Context()) if told.is_valid else None
