"""Real processes: how a service starts, stops and fails to start."""

import os
import signal
import socket
import subprocess
import sys

import msgspec
import pytest

from services.kit.settings import ServiceSettings

PROBE = """
import asyncio, structlog
from services.kit.process import StartFailed, run
from services.kit.settings import ServiceSettings

async def main(settings, stop):
    {body}
    structlog.get_logger().info("service_started", address=settings.address(7))
    await stop.wait()

run("probe", main, ServiceSettings)
"""


def probe(body: str = "pass", **env: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", PROBE.format(body=body)],
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_service_that_listens_everywhere_tells_others_its_machine_s_name() -> None:
    assert ServiceSettings(host="0.0.0.0").address(7) == f"{socket.gethostname()}:7"
    assert ServiceSettings(host="0.0.0.0", advertise="10.0.0.9").address(7) == "10.0.0.9:7"
    assert ServiceSettings(host="127.0.0.1").address(7) == "127.0.0.1:7"


@pytest.mark.parametrize(
    ("advertise", "told"),
    [
        ("fd00::9", "[fd00::9]:7"),
        ("[fd00::9]", "[fd00::9]:7"),
        ("[fd00::9]:8", "[fd00::9]:8"),
        ("worker.example", "worker.example:7"),
        ("worker.example:8", "worker.example:8"),
    ],
)
def test_the_advertised_address_has_a_port_and_an_ipv6_one_brackets(advertise: str, told: str) -> None:
    assert ServiceSettings(advertise=advertise).address(7) == told


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_service_cleanly(number: signal.Signals) -> None:
    process = probe()
    assert process.stdout is not None
    started = msgspec.json.decode(process.stdout.readline())
    process.send_signal(number)
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert (started["event"], started["service"], started["level"]) == ("service_started", "probe", "info")
    assert started["address"] == "127.0.0.1:7"
    assert msgspec.json.decode(out.splitlines()[-1])["event"] == "service_stopped"


def test_a_second_signal_ends_a_service_that_does_not_heed_the_first() -> None:
    process = probe("stop.wait = asyncio.Event().wait")
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    while process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    process.communicate()
    assert process.returncode != 0


@pytest.mark.parametrize(
    ("body", "env", "says"),
    [
        ("raise StartFailed('no\\nway')", {}, "probe: no way"),
        ("raise OSError('disk on fire')", {}, "probe: disk on fire"),
        ("pass", {"PORT": "99999"}, "probe: PORT cannot be used"),
    ],
)
def test_a_failed_start_is_one_line_and_exit_code_1(body: str, env: dict[str, str], says: str) -> None:
    process = probe(body, **env)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert len(err.splitlines()) == 1
    assert err.decode().startswith(says)


def test_a_fault_in_a_service_shows_its_traceback() -> None:
    process = probe("1 / 0")
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert b"ZeroDivisionError" in err


@pytest.mark.parametrize(
    ("advertise", "address"), [("", "127.0.0.1:7"), ("lobby", "lobby:7"), ("lobby:50", "lobby:50")]
)
def test_others_are_told_the_advertised_address(advertise: str, address: str) -> None:
    process = probe(ADVERTISE=advertise)
    assert process.stdout is not None
    assert msgspec.json.decode(process.stdout.readline())["address"] == address
    process.terminate()
    process.communicate(timeout=20)
