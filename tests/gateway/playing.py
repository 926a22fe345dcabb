"""What a client does, in few words: become a guest, sit down, move."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import uuid4

import httpx

from deploy.local.system import Service
from tests.waiting import wait_until

ADMIN_TOKEN = "of the operator"

Json = dict[str, Any]


class Gateway(NamedTuple):
    """One more gateway."""

    url: str
    service: Service


Start = Callable[..., Gateway]


class Guest:
    """A player with a token."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        made = client.post("/v1/players")
        assert made.status_code == 201, made.text
        self.player: str = made.json()["player"]
        self.token: str = made.json()["token"]
        self.recovery: str = made.json()["recovery"]
        self.expires_at_s: float = made.json()["expires_at"] / 1000
        self.headers = {"Authorization": f"Bearer {self.token}"}

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(path, headers=self.headers | headers)

    def post(self, path: str, body: Any = None, key: str = "", **headers: str) -> httpx.Response:
        """`key`: the Idempotency-Key."""
        named = {"Idempotency-Key": key} if key else {}
        return self.client.post(path, json=body, headers=self.headers | named | headers)

    def delete(self, path: str) -> httpx.Response:
        return self.client.delete(path, headers=self.headers)

    def create(self, **table: Any) -> Json:
        made = self.post("/v1/matches", {"title": "make_way", **table})
        assert made.status_code == 201, made.text
        created: Json = made.json()
        return created

    def view(self, match: str) -> Json:
        found = self.get(f"/v1/matches/{match}")
        assert found.status_code == 200, found.text
        view: Json = found.json()
        return view

    def legal(self, match: str) -> Json:
        found = self.get(f"/v1/matches/{match}/legal-moves")
        assert found.status_code == 200, found.text
        page: Json = found.json()
        return page

    def move(self, match: str, move: Any, version: int, key: str = "") -> httpx.Response:
        return self.post(f"/v1/matches/{match}/moves", {"move": move, "expected_version": version}, key)


def begun(guests: tuple[Guest, Guest], **table: Any) -> str:
    """A match that both guests sit at; its id."""
    host, other = guests
    created = host.create(**table)
    match: str = created["match"]
    seated = other.post(f"/v1/matches/{match}/seats", {"invite": created.get("invite", "")})
    assert seated.status_code == 200, seated.text
    wait_until(lambda: host.view(match)["status"] == "running")
    return match


def any_move(guests: tuple[Guest, Guest], match: str, luck: random.Random) -> tuple[Guest, Any, int]:
    """Who is to act, a legal move of theirs, and the version it is for."""
    mover = guests[guests[0].view(match)["to_act"][0]]
    page = mover.legal(match)
    return mover, luck.choice(page["choices"])["move"], page["version"]


def play_on(guests: tuple[Guest, Guest], match: str, moves: int, luck: random.Random) -> list[Json]:
    """Receipts of `moves` random moves; fewer when the match ends."""
    receipts: list[Json] = []
    for _ in range(moves):
        if guests[0].view(match)["status"] == "over":
            break
        mover, move, version = any_move(guests, match, luck)
        made = mover.move(match, move, version, uuid4().hex)
        assert made.status_code == 200, made.text
        receipts.append(made.json())
    return receipts


def ready(gateway: Gateway) -> Gateway:
    """The gateway itself, once it is ready."""

    def is_ready() -> bool:
        assert gateway.service.exit_code is None, gateway.service.last_words()
        try:
            return httpx.get(f"{gateway.url}/readyz").status_code == 200
        except httpx.TransportError:
            return False

    wait_until(is_ready)
    return gateway
