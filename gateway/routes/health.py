"""Probes and metrics."""

from typing import Annotated, Literal

from litestar import Response, get
from litestar.params import QueryParameter
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from gateway.bodies import answered
from gateway.parts import Parts
from gateway.readiness import Standing
from gateway.says import says

_TEXT = {"type": "string"}
Excepted = Annotated[
    Literal["", "outages"],
    QueryParameter(
        name="except",
        description="`outages`: 200 during an outage that meets all gateways, once this one has worked.",
    ),
]


@get("/healthz", tags=["operators"], opt=says(_TEXT, media_type="text/plain"))
async def alive() -> Response[bytes]:
    """The process answers."""
    return Response(b"alive\n", media_type="text/plain")


@get("/readyz", tags=["operators"], opt=says(Standing))
async def ready(parts: Parts, except_: Excepted = "") -> Response[bytes]:
    """200 while requests are welcome; 503 while the gateway stops, or without Redis or a lobby."""
    standing = parts.readiness.standing()
    is_ready = standing.is_ready if not except_ else standing.is_ready_but_for_outages
    return answered(standing, status=200 if is_ready else 503, headers={"Cache-Control": "no-store"})


@get("/metrics", tags=["operators"], opt=says(_TEXT, media_type="text/plain"))
async def metrics() -> Response[bytes]:
    """Prometheus text."""
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
