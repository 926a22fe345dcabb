"""A match over plain HTTP, one request at a time, with whatever headers a test wants to see again."""

import secrets
from dataclasses import dataclass
from typing import Any

import httpx

from tests.waiting import wait_until


@dataclass
class Guest:
    client: httpx.Client
    id: str
    token: str
    recovery: str

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.request(
            method, path, json=body, headers={"Authorization": f"Bearer {self.token}", **told}
        )


def guest(client: httpx.Client) -> Guest:
    made = client.post("/v1/players").json()
    return Guest(client, made["player"], made["token"], made["recovery"])


@dataclass
class Table:
    """A running match of Make Way!, the first player to move."""

    match: str
    players: list[Guest]

    @property
    def path(self) -> str:
        return f"/v1/matches/{self.match}"

    def legal_move(self) -> tuple[Any, int]:
        """A move of the first player, and the version that it is made at."""
        page = self.players[0].ask("GET", f"{self.path}/legal-moves").json()
        return page["choices"][0]["move"], page["version"]

    def move(self, **headers: str) -> httpx.Response:
        made, version = self.legal_move()
        return self.players[0].ask(
            "POST", f"{self.path}/moves", {"move": made, "expected_version": version}, **headers
        )


def begun(client: httpx.Client) -> Table:
    players = [guest(client), guest(client)]
    made = players[0].ask("POST", "/v1/matches", {"title": "make_way", "options": {"start": 0}})
    match = made.json()["match"]
    assert players[1].ask("POST", f"/v1/matches/{match}/seats", {}).status_code == 200
    wait_until(lambda: players[0].ask("GET", f"/v1/matches/{match}").json()["status"] == "running")
    return Table(match, players)


def new_trace() -> tuple[str, str]:
    """A trace id, and a traceparent in it that asks to be sampled."""
    trace = secrets.token_hex(16)
    return trace, f"00-{trace}-{secrets.token_hex(8)}-01"
