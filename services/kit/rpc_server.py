"""The server's side of gRPC: health, reflection, deadlines, typed refusals, one log line per call."""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Collection
from typing import Any, TypeAlias, TypeVar

import grpc
import structlog
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from services.core.errors import Deadline, DomainError
from services.kit import request_log, tracing
from services.kit.channels import METADATA_BYTES_MAX
from services.kit.process import StartFailed
from services.kit.readable import Unreadable, readable, written
from services.kit.settings import ServiceSettings
from services.kit.statuses import Unexpected, abort, grpc_code, http_status
from services.kit.tasks import ended
from services.kit.telemetry import rpc_duration

log = structlog.get_logger()

ServicerT = TypeVar("ServicerT")
Context = grpc.aio.ServicerContext[Any, Any]
Handler = Callable[[Any, Any], Awaitable[Any]]
Found: TypeAlias = "grpc.RpcMethodHandler[Any, Any] | None"  # grpc's own type is generic in its stubs only

CALL_S_MAX = 30.0  # for a caller that sets no deadline, or a longer one
CALLS_MAX = 4_000
MESSAGE_BYTES_MAX = 4 * 1024 * 1024
_OPTIONS = (
    ("grpc.so_reuseport", 0),  # a taken port is a failure to start, not half of the traffic
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.max_metadata_size", METADATA_BYTES_MAX),
    ("grpc.absolute_max_metadata_size", METADATA_BYTES_MAX),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),  # our clients ping every 20 s
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.keepalive_time_ms", 30_000),  # a caller whose host vanished is not waited for
    ("grpc.keepalive_timeout_ms", 10_000),
)
WATCH_S = 0.5
_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class RpcServer:
    """A grpc.aio server; create it inside the running loop."""

    def __init__(self, settings: ServiceSettings, service_name: str, unhurried: Collection[str] = ()) -> None:
        """`unhurried`: methods that may take as long as their caller waits."""
        self._settings = settings
        self._names: list[str] = []
        self._watching: asyncio.Task[None] | None = None
        self._health = health.aio.HealthServicer()
        self._server = grpc.aio.server(
            interceptors=[UnaryCalls(service_name, unhurried)],
            options=_OPTIONS,
            maximum_concurrent_rpcs=CALLS_MAX,
        )
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)

    def add(
        self,
        add_servicer: Callable[[ServicerT, grpc.aio.Server], None],
        servicer: ServicerT,
        full_name: str,
    ) -> None:
        """`add_servicer`: the generated add_<Noun>ServiceServicer_to_server. `full_name`: as in the proto."""
        add_servicer(servicer, self._server)
        self._names.append(full_name)

    async def start(self) -> int:
        """Listens and reports itself serving; the port. Raises StartFailed for a port that is taken."""
        reflected = (*self._names, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(reflected, self._server)
        host, port = self._settings.host, self._settings.port
        where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        try:
            _refuse_taken(host, port)
            port = self._server.add_insecure_port(where)
        except (OSError, RuntimeError) as error:
            raise StartFailed(f"cannot listen on {where}: the port is taken or not ours") from error
        await self._server.start()
        for name in self._names:
            await self._health.set(name, _SERVING)
        return port

    def watch(self, can_serve: Callable[[], bool]) -> None:
        """From now on the health of our services by name is what `can_serve` says.

        That of the process, which has no name, is good until `stop`: an outage of Redis is no reason to
        restart a process, nor to take all of them out of their Service at once.
        """
        self._watching = asyncio.create_task(self._keep_watching(can_serve))

    async def _keep_watching(self, can_serve: Callable[[], bool]) -> None:
        while True:
            status = _SERVING if can_serve() else _NOT_SERVING
            for name in self._names:
                await self._health.set(name, status)
            await asyncio.sleep(WATCH_S)

    async def stop(self, grace_s: float) -> None:
        """Reports itself not serving, takes no new calls, and lets open ones finish for `grace_s`."""
        await ended(self._watching)
        await self._health.enter_graceful_shutdown()
        await self._server.stop(grace_s)


def _refuse_taken(host: str, port: int) -> None:
    """Raises OSError. gRPC would notice as well, but not without lines of its own on stderr."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    socket.create_server((host, port), family=family).close()


class UnaryCalls(grpc.aio.ServerInterceptor):
    """Wraps every unary call of ours; of a stream its codecs alone, or it would hold the messages."""

    def __init__(self, service: str, unhurried: Collection[str] = ()) -> None:
        self._service = service
        self._unhurried = unhurried

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Found]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Found:
        found = await continuation(handler_call_details)
        method = handler_call_details.method
        if found is None or not method.startswith("/waystation."):
            return found
        assert found.request_deserializer, "generated code reads and writes messages"
        assert found.response_serializer, "generated code reads and writes messages"
        read = readable(found.request_deserializer)
        if found.unary_unary is None:
            streaming: Any = found.stream_stream
            return grpc.stream_stream_rpc_method_handler(streaming, read, written(found.response_serializer))
        name = method.rpartition("/")[2]
        limit_s = None if name in self._unhurried else CALL_S_MAX
        answering = Answering(self._service, name, found.unary_unary, limit_s)
        return grpc.unary_unary_rpc_method_handler(
            answering.answer,
            request_deserializer=read,
            response_serializer=found.response_serializer,
        )


class Answering:
    """One unary method, with deadline, refusals, log line and metrics around its handler."""

    def __init__(self, service: str, method: str, handler: Handler, limit_s: float | None) -> None:
        self._service = service
        self._method = method
        self._handler = handler
        self._limit_s = limit_s

    async def answer(self, request: Any, context: Context) -> Any:
        began = time.perf_counter()
        structlog.contextvars.clear_contextvars()
        refusal: DomainError | None = None
        response = None
        with tracing.span(self._method, "server", _traceparent(context)) as span:
            try:
                response = await self._in_time(request, context)
            except DomainError as error:
                refusal = error
            except asyncio.CancelledError:
                self._tell(request, "CANCELLED", began, None)
                raise
            except Exception:
                log.exception("call_failed", method=self._method)
                refusal = Unexpected()
            if refusal is not None:
                span.fail(refusal.reason)
            self._tell(request, grpc_code(refusal).name if refusal else "OK", began, refusal)
        if refusal is not None:
            await abort(context, refusal)
        return response

    async def _in_time(self, request: Any, context: Context) -> Any:
        """The handler's answer. Raises Deadline once the caller no longer waits."""
        if isinstance(request, Unreadable):
            raise request.refusal
        limits = [limit_s for limit_s in (context.time_remaining(), self._limit_s) if limit_s]
        try:
            async with asyncio.timeout(min(limits, default=None)) as limit:
                return await self._handler(request, context)
        except TimeoutError:
            if limit.expired():
                raise Deadline(round(min(limits) * 1000)) from None
            raise

    def _tell(self, request: Any, code: str, began: float, refusal: DomainError | None) -> None:
        took_s = time.perf_counter() - began
        rpc_duration(self._service, self._method, code).observe(took_s)
        level = request_log.level(http_status(refusal) if refusal else 200, took_s)
        if level is not None:
            request_log.tell(
                level,
                "rpc",
                self._method,
                code,
                took_s,
                reason=refusal.reason if refusal else "",
                match=getattr(request, "match", ""),
                player=getattr(request, "player", ""),
                request_id=getattr(request, "request_id", ""),
                trace_id=tracing.trace_id(getattr(request, "traceparent", "")),
            )


def _traceparent(context: Context) -> str:
    """What the caller's metadata says of its trace; not looked for while nobody traces."""
    if not tracing.is_on():
        return ""
    told = dict(context.invocation_metadata() or ()).get("traceparent", "")
    return told if isinstance(told, str) else ""
