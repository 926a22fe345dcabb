"""The client's side of gRPC: one channel per address, and calls that raise typed errors."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import grpc

from services.core.errors import Deadline
from services.kit import tracing
from services.kit.statuses import error_from

Request = TypeVar("Request", contravariant=True)
Response = TypeVar("Response", covariant=True)
StubT = TypeVar("StubT")

# Workers come and go with new addresses; the channel that was used longest ago is closed first.
CHANNELS_MAX = 1_024
_CLOSE_S = 5.0

METADATA_BYTES_MAX = 32 * 1024
_OPTIONS = (
    ("grpc.enable_retries", 0),  # who retries is decided above, with the request's id in hand
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 3_000),  # despite its name, how long one attempt may take
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.max_metadata_size", METADATA_BYTES_MAX),
    ("grpc.absolute_max_metadata_size", METADATA_BYTES_MAX),
)


Metadata = tuple[tuple[str, str], ...]


class Method(Protocol[Request, Response]):
    """A unary method of a stub."""

    def __call__(
        self, request: Request, *, timeout: float | None = None, metadata: Metadata | None = None
    ) -> Awaitable[Response]: ...


class Channels:
    """Channels by address, opened when first needed and kept."""

    def __init__(self) -> None:
        self._channels: OrderedDict[str, grpc.aio.Channel] = OrderedDict()
        self._stubs: dict[tuple[Callable[[grpc.aio.Channel], Any], str], Any] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def channel(self, address: str) -> grpc.aio.Channel:
        channel = self._channels.get(address)
        if channel is None:
            channel = grpc.aio.insecure_channel(address, options=_OPTIONS)
            self._channels[address] = channel
            if len(self._channels) > CHANNELS_MAX:
                self._forget(next(iter(self._channels)))
        self._channels.move_to_end(address)
        return channel

    def stub(self, kind: Callable[[grpc.aio.Channel], StubT], address: str) -> StubT:
        """The generated stub `kind` on the channel to `address`; kept as long as the channel."""
        channel = self.channel(address)
        stub: StubT | None = self._stubs.get((kind, address))
        if stub is None:
            stub = self._stubs[kind, address] = kind(channel)
        return stub

    async def call(
        self,
        method: Method[Request, Response],
        request: Request,
        timeout_s: float,
        service: str = "a service",
    ) -> Response:
        """The answer of `method`. Raises the peer's DomainError, ServiceDown(service), or Deadline.

        After ServiceDown or Deadline the outcome is unknown.
        """
        if timeout_s <= 0:
            raise Deadline(0)
        with tracing.span(_asked(request), "client") as span:
            try:
                return await method(request, timeout=timeout_s, metadata=_metadata(span.traceparent))
            except grpc.aio.AioRpcError as failed:
                raise error_from(failed, service, round(timeout_s * 1000)) from None

    async def close(self) -> None:
        """Closes every channel; open calls fail."""
        for address in list(self._channels):
            self._forget(address, grace_s=0)
        await asyncio.gather(*self._closing)

    def _forget(self, address: str, grace_s: float = _CLOSE_S) -> None:
        channel = self._channels.pop(address)
        self._stubs = {key: stub for key, stub in self._stubs.items() if key[1] != address}
        task = asyncio.ensure_future(channel.close(grace_s))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def _asked(request: object) -> str:
    """The method that a request is for, by the names of our protos: "GetTable" for a GetTableRequest."""
    return type(request).__name__.removesuffix("Request")


def _metadata(traceparent: str) -> Metadata | None:
    return (("traceparent", traceparent),) if traceparent else None
