"""Each request is one line of each service that served it, and the lines can be joined."""

import json

import httpx
import pytest
import structlog
from websockets.sync.client import connect

from services.kit import request_log
from tests.waiting import wait_until
from tests.watching.conftest import PATIENCE_S, Watched
from tests.watching.table import begun, guest, new_trace

pytestmark = pytest.mark.slow


def lines_of(watched: Watched, service: str, trace: str) -> list[dict[str, object]]:
    """The lines of one trace, without what differs from run to run."""
    varies = {"ts", "service", "event", "duration_ms"}
    found = [line for line in watched.served(service) if line.get("trace_id") == trace]
    assert all(float(line["duration_ms"]) > 0 for line in found)
    return [{name: value for name, value in line.items() if name not in varies} for line in found]


def test_a_move_over_http_is_one_line_of_the_gateway_and_one_of_the_worker(
    watched: Watched, client: httpx.Client
) -> None:
    table = begun(client)
    trace, traceparent = new_trace()
    key = {"Idempotency_Key": "the-first-move"}
    assert table.move(traceparent=traceparent, **key).status_code == 200
    who = {"match": table.match, "player": table.players[0].id, "request_id": "the-first-move"}
    wait_until(lambda: lines_of(watched, "rules-make_way-1", trace) and lines_of(watched, "gateway-1", trace))
    assert lines_of(watched, "gateway-1", trace) == [
        {
            "level": "info",
            "kind": "http",
            "method": "POST /v1/matches/{match}/moves",
            "code": 200,
            "trace_id": trace,
            **who,
        }
    ]
    assert lines_of(watched, "rules-make_way-1", trace) == [
        {
            "level": "info",
            "kind": "call",
            "method": "submit_command",
            "code": "OK",
            "trace_id": trace,
            **who,
        }
    ]


def test_a_refused_frame_is_one_line_with_its_reason(watched: Watched, client: httpx.Client) -> None:
    table = begun(client)
    trace, traceparent = new_trace()
    url = f"{watched.url.replace('http', 'ws')}/v1/live"
    headers = {"Authorization": f"Bearer {table.players[1].token}", "traceparent": traceparent}
    with connect(url, additional_headers=headers) as socket:
        frame = {"type": "answer_draw", "match": table.match, "offer": 1, "accept": True, "request_id": "r1"}
        socket.send(json.dumps(frame))
        while json.loads(socket.recv(timeout=PATIENCE_S))["type"] != "problem":
            pass
    wait_until(lambda: lines_of(watched, "gateway-1", trace))
    assert lines_of(watched, "gateway-1", trace) == [
        {
            "level": "info",
            "kind": "frame",
            "method": "answer_draw",
            "code": 409,
            "reason": "NOTHING_TO_ANSWER",
            "match": table.match,
            "player": table.players[1].id,
            "request_id": "r1",
            "trace_id": trace,
        }
    ]
    assert [line["reason"] for line in lines_of(watched, "rules-make_way-1", trace)] == ["NOTHING_TO_ANSWER"]


def test_a_frame_that_cannot_be_read_is_one_line_as_well(watched: Watched, client: httpx.Client) -> None:
    player = guest(client)
    trace, traceparent = new_trace()
    url = f"{watched.url.replace('http', 'ws')}/v1/live"
    headers = {"Authorization": f"Bearer {player.token}", "traceparent": traceparent}
    with connect(url, additional_headers=headers) as socket:
        socket.send("a secret of the player's, and no frame")
        while json.loads(socket.recv(timeout=PATIENCE_S))["type"] != "problem":
            pass
    wait_until(lambda: [line for line in watched.served("gateway-1") if line.get("trace_id") == trace])
    (line,) = [line for line in watched.served("gateway-1") if line.get("trace_id") == trace]
    assert (line["method"], line["code"], line["reason"]) == ("unread", 400, "BAD_REQUEST")
    assert "secret" not in json.dumps(line)


def test_a_call_of_the_lobby_is_one_line_and_a_batch_of_the_projection_another(
    watched: Watched, client: httpx.Client
) -> None:
    table = begun(client)
    trace, traceparent = new_trace()
    batches = len(watched.served("projection-1"))
    made = table.players[0].ask(
        "POST", "/v1/matches", {"title": "make_way"}, traceparent=traceparent, Idempotency_Key="a-table"
    )
    assert made.status_code == 201
    wait_until(lambda: lines_of(watched, "lobby-1", trace))
    (line,) = lines_of(watched, "lobby-1", trace)
    assert (line["kind"], line["method"], line["code"]) == ("rpc", "CreateTable", "OK")
    assert (line["player"], line["request_id"]) == (table.players[0].id, "a-table")
    wait_until(lambda: [line for line in watched.served("projection-1")[batches:] if line["kind"] == "batch"])
    (batch, *_) = [line for line in watched.served("projection-1")[batches:] if line["kind"] == "batch"]
    assert (batch["method"], batch["code"]) == ("projection", "OK")
    assert batch["events"] >= 1


def test_probes_and_scrapes_leave_no_lines(watched: Watched, client: httpx.Client) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        assert client.get(path).status_code == 200
    trace, traceparent = new_trace()
    client.get("/v1/titles", headers={"traceparent": traceparent})
    wait_until(lambda: lines_of(watched, "gateway-1", trace))
    # While the gateway started, it failed a probe and said so.
    routes = {str(line["method"]) for line in watched.served("gateway-1") if line["code"] == 200}
    assert "GET /v1/titles" in routes
    assert not {"GET /healthz", "GET /readyz", "GET /metrics"} & routes


@pytest.fixture
def _restored():
    yield
    request_log.configure("failed", 1_000, "INFO")


@pytest.mark.usefixtures("_restored")
@pytest.mark.parametrize(
    ("requests", "log_level", "ordinary"),
    [("failed", "INFO", None), ("all", "INFO", "info"), ("failed", "DEBUG", "debug")],
)
def test_failures_and_slow_requests_are_always_told(requests, log_level, ordinary) -> None:
    request_log.configure(requests, 200, log_level)
    assert request_log.level(200, 0.199) == ordinary
    assert request_log.level(200, 0.2) == "warning"
    assert request_log.level(404, 0.001) == "info"
    assert request_log.level(500, 0.001) == "warning"
    assert request_log.level(503, 0.001) == "warning"


@pytest.mark.usefixtures("_restored")
def test_a_caller_who_asks_too_often_cannot_fill_the_log() -> None:
    request_log.configure("failed", 200, "INFO")
    assert request_log.level(429, 0.001) is None


def test_what_a_kind_of_request_does_not_have_is_left_out() -> None:
    with structlog.testing.capture_logs() as lines:
        request_log.tell("info", "rpc", "GetTable", "OK", 0.0123456, match="m1", player="", request_id="")
    assert lines == [
        {
            "event": "request_served",
            "log_level": "info",
            "kind": "rpc",
            "method": "GetTable",
            "code": "OK",
            "duration_ms": 12.35,
            "match": "m1",
        }
    ]
