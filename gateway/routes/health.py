"""Probes and metrics."""

from litestar import Response, get
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from gateway.parts import Parts
from gateway.says import says

_TEXT = {"type": "string"}


@get("/healthz", tags=["operators"], opt=says(_TEXT, media_type="text/plain"))
async def alive() -> Response[bytes]:
    """The process answers."""
    return Response(b"alive\n", media_type="text/plain")


@get("/readyz", tags=["operators"], opt=says(_TEXT, media_type="text/plain"))
async def ready(parts: Parts) -> Response[bytes]:
    """200 while requests are welcome; 503 while the gateway stops, or without a lobby."""
    missing = parts.readiness.missing()
    body = f"{missing or 'ready'}\n".encode()
    return Response(body, status_code=503 if missing else 200, media_type="text/plain")


@get("/metrics", tags=["operators"], opt=says(_TEXT, media_type="text/plain"))
async def metrics() -> Response[bytes]:
    """Prometheus text."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
