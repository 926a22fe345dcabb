"""What an operator can set, read from the environment once, when a service starts.

A process with settings of its own subclasses `Settings`; the variable of a field is its name in capitals,
and a tuple is written with commas.
"""

import os
import socket
from collections.abc import Mapping
from ipaddress import IPv6Address
from typing import Annotated, Literal, TypeVar, get_origin

import msgspec
from msgspec import Meta, Struct

Port = Annotated[int, Meta(ge=0, le=65535)]  # 0: any free one
Seconds = Annotated[float, Meta(gt=0)]


class SettingInvalid(Exception):
    """A variable that cannot be used, as one line for the operator."""


class Settings(Struct, frozen=True, kw_only=True):
    """What every serving process of ours needs.

    `redis_unsafe`: accept a Redis that may lose or evict events. `log_requests`: "all" for a line of every
    request, "failed" for those that fail, are refused, or take `log_slow_ms` or longer. `port`: 0 takes a
    free one. `metrics_port`: 0 serves none.
    """

    redis_url: str = "redis://127.0.0.1:6379"
    redis_unsafe: bool = False
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_requests: Literal["failed", "all"] = "failed"
    log_slow_ms: Annotated[int, Meta(ge=1)] = 1_000
    host: str = "127.0.0.1"
    port: Port = 0
    metrics_port: Port = 0


class ServiceSettings(Settings, frozen=True, kw_only=True):
    """What a service behind the gateway needs as well, which others find, and which has to do with events.

    `redis_replicas`: how many replicas must have an event before anybody is told of it. `nats_replicas`: of
    the stream of published events. `advertise`: host:port, or a host alone, by which others reach this
    process; empty for where it listens, which is this machine's name when it listens everywhere.
    """

    redis_replicas: Annotated[int, Meta(ge=0, le=5)] = 0
    nats_url: str = "nats://127.0.0.1:4222"
    nats_replicas: Literal[1, 3, 5] = 1
    advertise: str = ""

    def address(self, port: int) -> str:
        """What others are told, `port` being the one that this process listens on."""
        everywhere = self.host in ("0.0.0.0", "::")
        told = self.advertise or (socket.gethostname() if everywhere else self.host)
        if _is_ipv6(told):  # as Kubernetes gives a Pod's
            return f"[{told}]:{port}"
        has_port = ":" in told.rpartition("]")[2]
        return told if has_port else f"{told}:{port}"


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host)
    except ValueError:
        return False
    return True


S = TypeVar("S", bound=Settings)


def from_environment(settings: type[S], environ: Mapping[str, str] = os.environ) -> S:
    """`settings` with what `environ` says; an empty variable counts as unset. Raises SettingInvalid."""
    given: dict[str, object] = {}
    for field in msgspec.structs.fields(settings):
        variable = field.name.upper()
        text = environ.get(variable, "").strip()
        if text:
            given[field.name] = _typed(variable, text, field.type)
        elif field.required:
            raise SettingInvalid(f"{variable} must be set")
    return msgspec.convert(given, settings)


def _typed(variable: str, text: str, type_: object) -> object:
    listed = get_origin(type_) is tuple
    raw = [part.strip() for part in text.split(",")] if listed else text
    try:
        return msgspec.convert(raw, type=type_, strict=False)
    except msgspec.ValidationError as error:
        raise SettingInvalid(f"{variable} cannot be used: {error}") from None
