"""The life of a service process: settings, logs, signals, and one clear line when it cannot start."""

import asyncio
import gc
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog
import uvloop

from services.core.errors import DomainError
from services.kit import request_log, telemetry, tracing
from services.kit.settings import SettingInvalid, Settings, from_environment

log = structlog.get_logger()


class StartFailed(Exception):
    """The service cannot start; the message is one line for the operator."""


S = TypeVar("S", bound=Settings)
Main = Callable[[S, asyncio.Event], Awaitable[None]]


def run(service: str, main: Main[S], settings: type[S]) -> None:
    """Runs `main(settings, stop)` until it returns; SIGTERM or SIGINT sets `stop`, a second one cancels.

    Exits with code 1 and one line on stderr when the settings or the start fail.
    """
    try:
        read = from_environment(settings)
        telemetry.configure(service, read.log_level)
        request_log.configure(read.log_requests, read.log_slow_ms, read.log_level)
        telemetry.start_metrics(read.metrics_port, read.host)
        _collect_garbage_seldom()
        tracing.configure(service)
        uvloop.run(_until_stopped(main, read))
    except asyncio.CancelledError:
        _leave(service, "stopped at once by a second signal")
    except (SettingInvalid, StartFailed, DomainError, OSError) as failure:
        _leave(service, str(failure))
    finally:
        tracing.close()
    log.info("service_stopped")


async def _until_stopped(main: Main[S], settings: S) -> None:
    stop = asyncio.Event()
    running = asyncio.current_task()
    assert running is not None

    def heed() -> None:
        if stop.is_set():
            running.cancel()
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, heed)
    await main(settings, stop)


def _collect_garbage_seldom() -> None:
    """What was imported stays, and most of what comes later is freed without the collector's help."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _leave(service: str, why: str) -> None:
    print(f"{service}: {' '.join(why.split())}", file=sys.stderr, flush=True)
    sys.exit(1)
