"""A collector of traces: OTLP over HTTP on 127.0.0.1, kept in memory."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass(frozen=True)
class Collected:
    """A span that came in. Ids in hexadecimal; `parent` is empty for a root."""

    service: str
    name: str
    kind: str
    trace: str
    id: str
    parent: str
    failed: str
    attributes: dict[str, str] = field(hash=False)


@dataclass
class Collector:
    """`url`: for OTEL_EXPORTER_OTLP_ENDPOINT. `raw`: the bodies as they came."""

    url: str
    spans: list[Collected] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)

    def of(self, trace: str) -> list[Collected]:
        return [span for span in tuple(self.spans) if span.trace == trace]

    def take(self, body: bytes) -> None:
        self.raw.append(body)
        for batch in ExportTraceServiceRequest.FromString(body).resource_spans:
            of_process = {pair.key: pair.value.string_value for pair in batch.resource.attributes}
            for scope in batch.scope_spans:
                self.spans += [_collected(of_process["service.name"], span) for span in scope.spans]


def _collected(service: str, span: Span) -> Collected:
    told = {pair.key: pair.value for pair in span.attributes}
    return Collected(
        service=service,
        name=span.name,
        kind=Span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        failed=span.status.message,
        attributes={name: value.string_value or str(value.int_value) for name, value in told.items()},
    )


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector that listens until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.take(self.rfile.read(int(self.headers["Content-Length"])))
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector = Collector(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
