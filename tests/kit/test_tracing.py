"""Spans without a collector: what is not loaded, what is not believed, and who leaves all the same."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from services.core.errors import NotYourTurn
from services.kit import tracing
from services.kit.tracing_sdk import SdkRecorder

PATIENCE_S = 60
SERVES = """
import asyncio, structlog, sys
from services.kit import tracing
from services.kit.process import run
from services.kit.settings import ServiceSettings

async def main(settings, stop):
    with tracing.span("GET /", "server"):
        pass
    print(any(name.startswith("opentelemetry") for name in sys.modules), flush=True)
    await stop.wait()

run("probe", main, ServiceSettings)
"""


def serving(**env: str) -> "subprocess.Popen[str]":
    bare = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return subprocess.Popen(
        [sys.executable, "-c", SERVES], env={**bare, **env}, stdout=subprocess.PIPE, text=True
    )


def loads_the_sdk(process: "subprocess.Popen[str]") -> bool:
    assert process.stdout is not None
    while (line := process.stdout.readline()) not in ("True\n", "False\n"):
        assert line, "it ended before it said anything"
    return line == "True\n"


def ended(process: "subprocess.Popen[str]") -> int:
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_S)
    return process.returncode


@pytest.mark.parametrize(
    ("env", "loads"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_TRACES_EXPORTER": "none"}, False),
    ],
)
def test_the_sdk_is_loaded_only_where_traces_are_wanted(env: dict[str, str], loads: bool) -> None:
    process = serving(**env)
    assert loads_the_sdk(process) == loads
    assert ended(process) == 0


def test_a_collector_that_hangs_keeps_no_service_from_leaving() -> None:
    """The SDK by itself would wait for as long as an export may take, here two minutes."""
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        url = f"http://127.0.0.1:{hanging.getsockname()[1]}"
        process = serving(OTEL_EXPORTER_OTLP_ENDPOINT=url, OTEL_EXPORTER_OTLP_TIMEOUT="120")
        assert loads_the_sdk(process)
        assert ended(process) == 0


@pytest.fixture
def _on(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Tracing in this process, of which nothing is sent."""
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    monkeypatch.setattr(tracing, "_recorder", SdkRecorder("probe"))
    yield
    tracing.close()


def test_switched_off_every_span_is_the_same_and_says_nothing() -> None:
    with tracing.span("GET /", "server", parent="00-" + "a" * 32 + "-" + "b" * 16 + "-01") as span:
        assert span is tracing.span("another")
        assert span.traceparent == ""
        assert tracing.traceparent(otherwise="the client's") == "the client's"


def test_switched_off_the_trace_id_is_still_the_client_s() -> None:
    assert tracing.trace_id("00-" + "a" * 32 + "-" + "b" * 16 + "-01") == "a" * 32
    assert tracing.trace_id("") == ""


@pytest.mark.usefixtures("_on")
@pytest.mark.parametrize(
    "told",
    [
        "",
        "nonsense",
        "00-" + "0" * 32 + "-" + "b" * 16 + "-01",
        "00-" + "a" * 32 + "-" + "0" * 16 + "-01",
        "00-" + "A" * 32 + "-" + "b" * 16 + "-01",
        "00-" + "a" * 32 + "-" + "b" * 16 + "-01-more",
    ],
)
def test_a_request_with_a_traceparent_that_is_none_begins_a_trace_of_its_own(told: str) -> None:
    with tracing.span("GET /", "server", told) as span:
        assert "a" * 32 not in span.traceparent
        assert len(span.traceparent) == 55


@pytest.mark.usefixtures("_on")
def test_a_trace_begins_with_a_request_and_with_nothing_else() -> None:
    for kind in ("internal", "client", "producer", "consumer"):
        assert tracing.span("decide", kind) is tracing.NOTHING  # type: ignore[arg-type]
    with tracing.span("GET /", "server"):
        assert tracing.span("decide") is not tracing.NOTHING


@pytest.mark.usefixtures("_on")
def test_a_refusal_passes_through_a_span() -> None:
    with pytest.raises(NotYourTurn), tracing.span("GET /", "server"):
        raise NotYourTurn(seat=0, version=1)
    assert tracing.traceparent() == ""


@pytest.mark.usefixtures("_on")
@pytest.mark.anyio
async def test_a_task_that_outlives_its_request_is_no_longer_part_of_it() -> None:
    over = asyncio.Event()

    async def outlives() -> tuple[str, tracing.Span]:
        await over.wait()
        return tracing.traceparent(), tracing.span("read", "client")

    with tracing.span("GET /", "server"):
        task = asyncio.create_task(outlives())
        await asyncio.sleep(0)
    over.set()
    assert await task == ("", tracing.NOTHING)
