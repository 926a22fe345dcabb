"""What no process may ever write down, even at its most talkative: keys to a match, and hidden hands."""

import base64
import json
import random
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from deploy.local.system import System, shipped_titles
from services.core.events import text_of
from services.core.ids import MatchId, match_stream
from services.core.replay import replayed
from services.kit.redis_store import RedisStore
from services.rules.library import load
from tests.e2e.serving import serving
from tests.e2e.site import Player, Refused, Site, gathered
from tests.hostile.conftest import logs

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

MOVES = 40
SEED = 20260205
TELLING = 12  # a shorter text is in any log by chance
HIDING = ("make_way", "a_way", "a_way_back_home")  # Wayfare hides nothing


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """All titles, in a system whose logs are those of this file alone."""
    folder = tmp_path_factory.mktemp("secrets")
    with serving(folder, dict.fromkeys(shipped_titles(), 1), LOG_LEVEL="DEBUG") as running:
        yield running


class Secrets(Struct):
    """Texts by what they are: "hand of make_way" and the like."""

    texts: dict[str, set[str]] = {}

    def add(self, what: str, texts: Iterable[str]) -> None:
        self.texts.setdefault(what, set()).update(texts)

    def found(self, written: dict[str, str]) -> list[tuple[str, str, str]]:
        """What was found, where, and how it is spelt there."""
        return [
            (what, name, text)
            for what, texts in self.texts.items()
            for text in texts
            for name, log in written.items()
            if text in log
        ]


async def test_no_secret_of_matches_of_all_titles_is_in_any_log(everything: System):
    rng = random.Random(SEED)
    print(f"seed {SEED}")
    secrets = Secrets()
    async with Site([everything.url]) as site:
        for slug in shipped_titles():
            await _played(site, everything, slug, secrets, rng)
    _demand_all_kinds(secrets)
    assert secrets.found(_written(everything)) == []
    canary = everything.data / "logs" / "canary.log"
    for what, texts in secrets.texts.items():
        for text in sorted(texts)[:20]:
            canary.write_text(f'{{"event": "leak", "what": "{text}"}}\n')
            assert (what, "canary.log", text) in secrets.found({"canary.log": canary.read_text()})
    canary.unlink()


async def _played(site: Site, system: System, slug: str, secrets: Secrets, rng: random.Random) -> None:
    """Half a match of `slug`, with all that may be refused on the way; what it hides goes to `secrets`."""
    made = [await site.ask("POST", "/v1/players") for _ in range(3)]
    players = [Player(site, each["player"], each["token"]) for each in made[:2]]
    stranger = Player(site, made[2]["player"], made[2]["token"])
    nonces = [uuid.uuid4().hex for _ in players]
    private = await players[0].create(slug, seats=2, visibility="private", nonce=nonces[0])
    invite = private["invite"]
    for wrong in (invite[:-1], invite + "x", invite.swapcase()):
        with pytest.raises(Refused):
            await stranger.join(private["match"], invite=wrong)
    await players[1].join(private["match"], invite=invite, nonce=nonces[1])
    with pytest.raises(Refused):
        await site.ask(
            "POST", "/v1/players/tokens", body={"player": made[0]["player"], "recovery": made[1]["recovery"]}
        )
    match = await gathered(players, slug)
    for each in made:
        secrets.add("token", [each["token"], each["token"].rpartition(".")[2]])
        secrets.add("recovery secret", [each["recovery"]])
    secrets.add("nonce", nonces)
    secrets.add("invite code", [invite])
    for _ in range(MOVES):
        if not await _moved(players, match, secrets, slug, rng):
            break
    await _add_hidden(system, slug, MatchId(match), MatchId(private["match"]), secrets)


async def _moved(players: list[Player], match: str, secrets: Secrets, slug: str, rng: random.Random) -> bool:
    """One move, after others' attempts at it; False when the match is over."""
    views = [await player.view(match) for player in players]
    public = await players[0].site.ask("GET", f"/v1/matches/{match}")
    if public["status"] != "running":
        return False
    for view in views:
        if view["version"] == public["version"]:
            secrets.add(f"hand of {slug}", _private(view["view"], public["view"]))
    seat = public["to_act"][0]
    page = await players[seat].legal_moves(match)
    move = rng.choice(page["choices"])["move"]
    for player, wish in ((players[1 - seat], move), (players[seat], {"type": "play", "card": "none"})):
        with pytest.raises(Refused):
            await player.move(match, wish, page["version"], uuid.uuid4().hex)
    await players[seat].move(match, move, page["version"], uuid.uuid4().hex)
    return True


def _private(own: dict[str, Any], public: dict[str, Any]) -> Iterator[str]:
    """Members that this player alone sees."""
    for name, value in own.items():
        if value is not None and value != public[name]:
            yield from _spelt(name, value)


def _spelt(name: str, value: Any) -> Iterator[str]:
    """A member as JSON, as JSON within JSON, and as Python writes it."""
    compact = json.dumps(value, separators=(",", ":"))
    told = (
        f'"{name}":{compact}',
        f'"{name}": {json.dumps(value)}',
        f"'{name}': {value!r}",
        f"{name}={value!r}",
    )
    for text in told:
        if len(text) >= TELLING:
            yield text
            yield text.replace('"', '\\"')


async def _add_hidden(system: System, slug: str, match: MatchId, private: MatchId, secrets: Secrets) -> None:
    """Seeds, and every position of the running match as a worker holds it."""
    store = await RedisStore.open(system.redis_url)
    for id_ in (match, private):
        seed = await store.seed(id_)
        assert seed is not None
        spellings = {seed.hex(), text_of(seed), base64.b64encode(seed).decode(), repr(seed)[2:-1]}
        secrets.add("seed", spellings)
    library = load(slug)
    seed = await store.seed(match)
    assert seed is not None
    for step in replayed(match, seed, await store.read(match_stream(match)), library.ruleset_for):
        state = step.match.state
        secrets.add(f"position of {slug}", {repr(state), msgspec.json.encode(state).decode()})
        if slug in HIDING:
            told = msgspec.json.encode(library.title.view(state, None)).decode()
            secrets.add(f"hidden state of {slug}", _untold(state, told))
    await store.close()


def _untold(state: Any, told: str) -> Iterator[str]:
    """Fields of a position that the public view does not hold in the same words."""
    for name in state.__struct_fields__:
        value = msgspec.to_builtins(getattr(state, name))
        if json.dumps(value, separators=(",", ":")) not in told and isinstance(value, tuple | list | dict):
            yield from _spelt(name, value)


def _demand_all_kinds(secrets: Secrets) -> None:
    kinds = {"token", "recovery secret", "nonce", "invite code", "seed"}
    kinds |= {f"position of {slug}" for slug in shipped_titles()}
    kinds |= {f"{what} of {slug}" for slug in HIDING for what in ("hand", "hidden state")}
    assert {kind for kind, texts in secrets.texts.items() if texts} >= kinds


def _written(system: System) -> dict[str, str]:
    """All that any process has written: services, Valkey, NATS."""
    servers = {path.name: path.read_text(errors="replace") for path in system.data.glob("*/*.log")}
    written = {**servers, **logs(system)}
    assert {"valkey.log", "gateway-1.log", "lobby-1.log"} <= written.keys()
    assert all("event" in written[name] for name in ("gateway-1.log", "lobby-1.log"))
    return written
