"""One request is one trace, through every process that has to do with it."""

import asyncio
import json
import re

import httpx
import pytest
import redis
from websockets.sync.client import connect

from tests.waiting import wait_until
from tests.watching.collector import Collected, Collector
from tests.watching.conftest import PATIENCE_S, Watched
from tests.watching.table import Table, begun, new_trace

pytestmark = pytest.mark.slow

OF_A_MOVE = {
    ("gateway", "rules", "client"),
    ("rules", "submit_command", "server"),
    ("rules", "decide", "internal"),
    ("rules", "redis append", "client"),
    ("rules", "nats publish", "producer"),
    ("projection", "projection consume", "consumer"),
}


@pytest.fixture(scope="module")
def table(watched: Watched) -> Table:
    return begun(httpx.Client(base_url=watched.url, timeout=PATIENCE_S))


def arrived(collector: Collector, trace: str, names: set[tuple[str, str, str]]) -> dict[str, Collected]:
    """The spans of the trace by name, once those `names` are among them."""

    def there() -> bool:
        return names <= {(span.service, span.name, span.kind) for span in collector.of(trace)}

    wait_until(there, f"{names} in {collector.of(trace)}")
    spans = collector.of(trace)
    assert len({span.name for span in spans}) == len(spans), "a span twice"
    return {span.name: span for span in spans}


def parents(spans: dict[str, Collected]) -> dict[str, str]:
    """The name of each span's parent; an id where it is none of these spans."""
    names = {span.id: name for name, span in spans.items()}
    return {name: names.get(span.parent, span.parent) for name, span in spans.items()}


def test_a_move_over_http_is_one_trace_through_every_service(collector: Collector, table: Table) -> None:
    trace, traceparent = new_trace()
    assert table.move(traceparent=traceparent).status_code == 200
    post = "POST /v1/matches/{match}/moves"
    spans = arrived(collector, trace, OF_A_MOVE | {("gateway", post, "server")})
    assert parents(spans) == {
        post: traceparent.split("-")[2],
        "rules": post,
        "submit_command": "rules",
        "decide": "submit_command",
        "redis append": "submit_command",
        "nats publish": "submit_command",
        "projection consume": "nats publish",
    }


def test_a_move_over_a_socket_is_one_trace_as_well(
    collector: Collector, table: Table, watched: Watched
) -> None:
    trace, traceparent = new_trace()
    url = f"{watched.url.replace('http', 'ws')}{table.path}/live"
    headers = {"Authorization": f"Bearer {table.players[0].token}"}
    with connect(url, additional_headers=headers) as socket:
        socket.send(json.dumps({"type": "resign", "traceparent": traceparent}))
        while json.loads(socket.recv(timeout=PATIENCE_S))["type"] != "receipt":
            pass
    spans = arrived(collector, trace, OF_A_MOVE | {("gateway", "frame resign", "server")})
    assert parents(spans)["frame resign"] == traceparent.split("-")[2]
    assert parents(spans)["rules"] == "frame resign"
    assert parents(spans)["projection consume"] == "nats publish"


def test_the_stored_event_names_the_span_that_stored_it(
    collector: Collector, watched: Watched, client: httpx.Client
) -> None:
    table = begun(client)
    trace, traceparent = new_trace()
    table.move(traceparent=traceparent)
    spans = arrived(collector, trace, {("rules", "submit_command", "server")})
    with redis.Redis.from_url(watched.redis_url) as store:
        (key,) = store.scan_iter(match=f"*:match/{table.match}", count=1000)
        _, fields = store.xrevrange(key, count=1)[0]
    event = json.loads(fields[b"e"])
    assert event["traceparent"] == f"00-{trace}-{spans['submit_command'].id}-01"


def test_each_call_of_a_batch_keeps_its_own_trace(collector: Collector, watched: Watched) -> None:
    """Many reads at once share messages of the exchange; their spans are not mixed up."""

    async def asked() -> list[str]:
        async with httpx.AsyncClient(base_url=watched.url, timeout=PATIENCE_S) as client:
            table = begun(httpx.Client(base_url=watched.url, timeout=PATIENCE_S))

            async def ask() -> str:
                trace, traceparent = new_trace()
                answer = await client.get(table.path, headers={"traceparent": traceparent})
                assert answer.status_code == 200
                return trace

            return list(await asyncio.gather(*(ask() for _ in range(40))))

    for trace in asyncio.run(asked()):
        get = "GET /v1/matches/{match}"
        names = {("gateway", get, "server"), ("gateway", "rules", "client"), ("rules", "get_match", "server")}
        spans = arrived(collector, trace, names)
        assert parents(spans)["get_match"] == "rules"
        assert parents(spans)["rules"] == get


def test_a_table_is_traced_from_the_gateway_through_the_lobby_to_the_match(
    collector: Collector, client: httpx.Client
) -> None:
    table = begun(client)
    trace, traceparent = new_trace()
    made = table.players[0].ask("POST", "/v1/matches", {"title": "make_way"}, traceparent=traceparent)
    assert made.status_code == 201
    names = {
        ("gateway", "CreateTable", "client"),
        ("lobby", "CreateTable", "server"),
        ("lobby", "redis append", "client"),
        ("lobby", "nats publish", "producer"),
        ("projection", "projection consume", "consumer"),
    }
    wait_until(lambda: names <= {(span.service, span.name, span.kind) for span in collector.of(trace)})


def test_a_refusal_fails_its_spans_by_reason_alone(collector: Collector, client: httpx.Client) -> None:
    table = begun(client)
    trace, traceparent = new_trace()
    body = {"move": {"kind": "nonsense of a player"}, "expected_version": 1}
    refused = table.players[0].ask("POST", f"{table.path}/moves", body, traceparent=traceparent)
    assert refused.status_code == 400
    spans = arrived(collector, trace, {("rules", "submit_command", "server")})
    assert spans["submit_command"].failed == "MOVE_UNREADABLE"
    assert not any(b"nonsense" in raw for raw in collector.raw)


def test_probes_and_scrapes_are_no_traces(collector: Collector, client: httpx.Client) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        assert client.get(path).status_code == 200
    trace, traceparent = new_trace()
    client.get("/v1/titles", headers={"traceparent": traceparent})
    arrived(collector, trace, {("gateway", "GET /v1/titles", "server")})
    assert not {span.name for span in collector.spans} & {"GET /healthz", "GET /readyz", "GET /metrics"}


def test_a_request_that_asks_not_to_be_sampled_is_not(collector: Collector, client: httpx.Client) -> None:
    table = begun(client)
    trace, traceparent = new_trace()
    assert table.move(traceparent=traceparent[:-1] + "0").status_code == 200
    later, traceparent = new_trace()
    assert table.players[0].ask("GET", table.path, traceparent=traceparent).status_code == 200
    arrived(collector, later, {("rules", "get_match", "server")})
    assert collector.of(trace) == []


def test_spans_hold_no_player_no_token_no_seed_and_nothing_of_the_move(
    collector: Collector, watched: Watched, client: httpx.Client
) -> None:
    table = begun(client)
    trace, traceparent = new_trace()
    made, _ = table.legal_move()
    assert table.move(traceparent=traceparent).status_code == 200
    arrived(collector, trace, OF_A_MOVE)
    with redis.Redis.from_url(watched.redis_url) as store:
        seeds = [store.get(key) for key in store.scan_iter(match=f"*seed*{table.match}*", count=1000)]
    assert len(seeds) == 1
    everything = b"".join(collector.raw)
    assert bytes.fromhex(trace) in everything, "the search finds what is there"
    for player in table.players:
        for secret in (player.id, player.token, player.recovery):
            assert secret.encode() not in everything
    for seed in seeds:
        assert seed is not None
        assert seed not in everything
        assert seed.hex().encode() not in everything
    assert json.dumps(made).encode() not in everything
    names = {name for span in collector.spans for name in span.attributes}
    assert names <= {"waystation.title", "waystation.version", "waystation.code"}
    for span in collector.spans:
        for value in span.attributes.values():
            assert re.fullmatch(r"[a-z_0-9]{1,32}", value), value
