"""What an operator can set, read from the environment once, when a service starts.

A service with settings of its own subclasses `Settings`; the variable of a field is its name in capitals,
and a tuple is written with commas.
"""

import os
from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar, get_origin

import msgspec
from msgspec import Meta, Struct

Port = Annotated[int, Meta(ge=0, le=65535)]  # 0: any free one
Seconds = Annotated[float, Meta(gt=0)]


class SettingInvalid(Exception):
    """A variable that cannot be used, as one line for the operator."""


class Settings(Struct, frozen=True, kw_only=True):
    """What every service needs.

    `redis_unsafe`: accept a Redis that may lose or evict events. `host`: where to listen. `advertise`:
    the host name or address by which other services reach this one.
    """

    redis_url: str = "redis://127.0.0.1:6379"
    redis_unsafe: bool = False
    nats_url: str = "nats://127.0.0.1:4222"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    host: str = "0.0.0.0"
    grpc_port: Port = 50051
    metrics_port: Port = 9090
    advertise: str = "127.0.0.1"


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
