"""The users that docs/operations.md gives to services are allowed all that services do."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis

from deploy.local.servers import Nats, Valkey, free_port
from deploy.local.system import ROOT, System
from tests.waiting import wait_until
from tests.watching.table import begun, guest

pytestmark = pytest.mark.slow

PATIENCE_S = 60.0
LOGIN = "waystation:p%2Fw%40rd"
PASSWORD = "p/w@rd"
DENIED = re.compile(r"violation|authorization error|authentication error", re.IGNORECASE)


def told(first_words: str) -> str:
    """The block of the page that begins with these words, with our password."""
    blocks = re.findall(r"^```\n(.*?)^```", (ROOT / "docs" / "operations.md").read_text(), re.M | re.S)
    (block,) = (block for block in blocks if block.startswith(first_words))
    return block.strip().replace(">password", f">{PASSWORD}").replace('"password"', f'"{PASSWORD}"')


class NatsWithUser(Nats):
    """A NATS that knows nobody but the user of the page."""

    def _command(self) -> list[str]:
        settings = self.data_dir / "nats.conf"
        settings.write_text(f"authorization {{ users = [ {told('{ user: waystation')} ] }}\n")
        return [*super()._command(), "--config", str(settings)]


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Valkey]:
    with Valkey(tmp_path / "valkey") as server:
        _, name, *rules = told("user waystation").split()
        redis.Redis(port=server.port).execute_command("ACL", "SETUSER", name, *rules)
        yield server


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[Nats]:
    with NatsWithUser(tmp_path / "nats") as server:
        yield server


@pytest.fixture
def system(tmp_path: Path, valkey: Valkey, nats: Nats) -> Iterator[System]:
    system = System(
        data=tmp_path / "system",
        workers={"make_way": 1},
        ports=[free_port()],
        redis_url=f"redis://{LOGIN}@127.0.0.1:{valkey.port}",
        nats_url=f"nats://{LOGIN}@127.0.0.1:{nats.port}",
    )
    system.start()
    yield system
    system.stop()


def test_a_match_is_opened_played_listed_and_watched_without_a_refusal(
    system: System, valkey: Valkey, nats: Nats
) -> None:
    with httpx.Client(base_url=system.url, timeout=PATIENCE_S) as client:
        wait_until(lambda: client.get("/readyz").json()["status"] == "ready")
        assert guest(client).ask("POST", "/v1/quick-matches", {"title": "make_way"}).is_success
        table = begun(client)
        with client.stream("GET", f"{table.path}/live.sse") as live:
            lines = live.iter_lines()
            assert any(line.startswith("data:") for line in lines)
            assert table.move().status_code == 200
            assert any('"version":2' in line for line in lines)
        listed = "/v1/matches?title=make_way&status=running"
        wait_until(lambda: table.match in client.get(listed).text)
    assert redis.Redis(port=valkey.port).execute_command("ACL", "LOG") == []
    assert not DENIED.search(nats.log.read_text())
