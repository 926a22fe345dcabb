"""Logs and metrics, the same in every service: JSON lines on stdout, Prometheus text on a port.

`event` is snake_case, past tense and constant; what varies goes into fields. Never a label with
the id of a match or a player.
"""

import logging
import sys
from functools import lru_cache
from typing import Any

import msgspec
import structlog
from prometheus_client import Counter, Histogram, start_http_server

RPC_DURATION = Histogram(
    "rpc_duration_seconds",
    "How long a unary call took, by its gRPC code",
    ["service", "method", "code"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
APPEND_CONFLICTS = Counter("append_conflicts", "Appends that came second and were decided again", ["owner"])
Line = structlog.types.EventDict


def configure(service: str, level: str = "INFO") -> None:
    """JSON lines on stdout with ts, level, service and event; the libraries' warnings as well."""
    number = logging.getLevelNamesMapping()[level]
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
        _Named(service),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer(serializer=_json)],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.BytesLoggerFactory(sys.stdout.buffer),
        cache_logger_on_first_use=True,
    )
    # Libraries log through the standard module: only their warnings, in the same form.
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(serializer=_json_text),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(number, logging.WARNING), force=True)


@lru_cache(maxsize=1_000)
def rpc_duration(service: str, method: str, code: str) -> Histogram:
    """The histogram of one outcome; looking it up by its labels costs more than observing."""
    return RPC_DURATION.labels(service, method, code)


def start_metrics(port: int, host: str = "127.0.0.1") -> None:
    """Serves /metrics from a thread of its own. Port 0: not at all. Raises OSError for a taken port."""
    if port:
        start_http_server(port, addr=host)


class _Named:
    """Adds the service's name to every line."""

    def __init__(self, service: str) -> None:
        self._service = service

    def __call__(self, logger: Any, method: str, line: Line) -> Line:
        line["service"] = self._service
        return line


def _json(line: Any, **_: Any) -> bytes:
    return msgspec.json.encode(line, enc_hook=str)


def _json_text(line: Any, **_: Any) -> str:
    return _json(line).decode()
