import logging
from collections.abc import Iterator

import msgspec
import pytest
import structlog

from services.kit import telemetry


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(capture: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [msgspec.json.decode(line) for line in capture.readouterr().out.splitlines()]


def test_a_line_is_json_with_time_level_service_and_bound_fields(capfd: pytest.CaptureFixture[str]) -> None:
    telemetry.configure("probe", "INFO")
    with structlog.contextvars.bound_contextvars(match="m1"):
        structlog.get_logger().info("seat_taken", seat=2)
    (line,) = lines(capfd)
    assert str(line.pop("ts")).endswith("Z")
    assert line == {"event": "seat_taken", "level": "info", "service": "probe", "match": "m1", "seat": 2}


def test_what_is_below_the_level_is_not_written(capfd: pytest.CaptureFixture[str]) -> None:
    telemetry.configure("probe", "WARNING")
    structlog.get_logger().info("seat_taken")
    assert lines(capfd) == []


def test_a_librarys_warning_is_a_line_of_the_same_form(capfd: pytest.CaptureFixture[str]) -> None:
    telemetry.configure("probe", "INFO")
    logging.getLogger("library").info("chatter")
    logging.getLogger("library").warning("trouble %s", "ahead")
    (line,) = lines(capfd)
    assert (line["event"], line["level"], line["service"]) == ("trouble ahead", "warning", "probe")


def test_a_traceback_is_one_field_of_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    telemetry.configure("probe", "INFO")
    try:
        raise RuntimeError("boom")
    except RuntimeError:
        structlog.get_logger().exception("call_failed")
    (line,) = lines(capfd)
    assert "boom" in str(line["exception"])
