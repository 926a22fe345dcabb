"""Tokens that nobody issued, others' seats, private tables: refused, and nothing is stored."""

import asyncio
import base64
import json
import time
import uuid

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from websockets.asyncio.client import connect

from gateway.live.session import UNKNOWN_CALLER
from gateway.settings import GatewaySettings
from services.core.ids import MatchId, match_stream
from services.kit.tokens import ALGORITHM, KEYS
from tests.e2e.site import Player, Refused, gathered

GUESSES = GatewaySettings().guess_burst_per_player
pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def forged(token: str, how: str) -> str:
    """`token` as somebody without its key would change it."""
    header, claims = jwt.get_unverified_header(token), jwt.decode(token, options={"verify_signature": False})
    signature = token.rpartition(".")[2]
    match how:
        case "no algorithm":
            return f"{part({**header, 'alg': 'none'})}.{part(claims)}."
        case "another's name":
            return f"{part(header)}.{part({**claims, 'sub': 'p_somebody_else'})}.{signature}"
        case "later expiry":
            return f"{part(header)}.{part({**claims, 'exp': int(time.time()) + 10**9})}.{signature}"
        case "a secret of our own":
            return jwt.encode(claims, "x" * 64, algorithm="HS256", headers={"kid": header.get("kid", "")})
        case "an unknown key":
            return f"{part({**header, 'kid': '../../etc/passwd'})}.{part(claims)}.{signature}"
        case "truncated":
            return token[:-8]
        case _:
            return how


FORGERIES = (
    "no algorithm",
    "another's name",
    "later expiry",
    "a secret of our own",
    "an unknown key",
    "",
    "x",
    "a.b.c",
    "." * 200,
    "A" * 6000,
    "truncated",
)


@pytest.mark.parametrize("how", FORGERIES)
async def test_a_token_that_nobody_issued_is_refused_and_nothing_is_stored(system, site, store, how):
    players = await site.players(2)
    match = await gathered(players, "make_way")
    pages = [await player.legal_moves(match) for player in players]
    mover, page = next((player, page) for player, page in zip(players, pages, strict=True) if page["choices"])
    stranger = Player(site, mover.id, forged(mover.token, how) or " ")
    await _demand_refused_live(system, stranger.token)
    with pytest.raises(Refused) as refused:
        await stranger.move(match, page["choices"][0]["move"], page["version"], uuid.uuid4().hex)
    assert refused.value.status in (400, 401)
    assert await store.heads([match_stream(MatchId(match))]) == [page["version"]]


async def test_nobody_moves_for_another_seat_or_from_outside(site, store):
    players = await site.players(3)
    match = await gathered(players[:2], "make_way")
    pages = [await player.legal_moves(match) for player in players[:2]]
    mover = next(number for number, page in enumerate(pages) if page["choices"])
    move, version = pages[mover]["choices"][0]["move"], pages[mover]["version"]
    for other in (players[1 - mover], players[2]):
        with pytest.raises(Refused) as refused:
            await other.move(match, move, version, uuid.uuid4().hex)
        assert refused.value.reason in ("NOT_YOUR_TURN", "NOT_SEATED")
    assert await store.heads([match_stream(MatchId(match))]) == [version]


async def test_a_private_match_is_shown_to_its_players_alone(site):
    host, guest, stranger = await site.players(3)
    made = await host.create("make_way", seats=2, visibility="private")
    match = made["match"]
    for path in ("", "/legal-moves", "/events", "/record"):
        with pytest.raises(Refused) as refused:
            await stranger.ask("GET", f"/v1/matches/{match}{path}")
        assert refused.value.status in (403, 404, 409)
    with pytest.raises(Refused, match="NOT_SEATED"):
        await stranger.join(match, invite="guess")
    await guest.join(match, invite=made["invite"])
    with pytest.raises(Refused, match="NOT_SEATED"):
        await stranger.view(match)
    listed = await stranger.ask("GET", "/v1/matches", page_size=100)
    assert match not in [summary["match"] for summary in listed["matches"]]


# Claims that spoil a token though we ourselves have signed it: in seconds from now where they are times.
SPOILT = {
    "expired": {"exp": -60},
    "not yet valid": {"nbf": 3600},
    "issued in the future": {"iat": 3600},
    "another audience": {"aud": "elsewhere"},
    "another issuer": {"iss": "elsewhere"},
}


@pytest.mark.parametrize("how", SPOILT)
async def test_a_token_of_ours_that_is_not_meant_for_now_and_here_is_refused(system, site, redis, how):
    player = await site.player()
    claims = jwt.decode(player.token, options={"verify_signature": False})
    now = int(time.time())
    spoilt = {name: value if isinstance(value, str) else now + value for name, value in SPOILT[how].items()}
    kid = jwt.get_unverified_header(player.token)["kid"]
    stored = json.loads(await redis.hget(KEYS, kid))
    key = Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(stored["private"]))

    def signed(claims: dict[str, object]) -> str:
        return jwt.encode(claims, key, ALGORITHM, headers={"kid": kid})

    await Player(site, player.id, signed(claims)).create("make_way")  # but for its claims it would be good
    with pytest.raises(Refused) as refused:
        await Player(site, player.id, signed(claims | spoilt)).create("make_way")
    assert (refused.value.status, refused.value.reason) == (401, "TOKEN_INVALID")
    await _demand_refused_live(system, signed(claims | spoilt))


async def test_a_request_sent_again_is_not_carried_out_again_and_is_nobody_elses(site, store):
    players = await site.players(2)
    match = await gathered(players, "make_way")
    pages = [await player.legal_moves(match) for player in players]
    mover = next(number for number, page in enumerate(pages) if page["choices"])
    move, version = pages[mover]["choices"][0]["move"], pages[mover]["version"]
    receipt = await players[mover].move(match, move, version, "overheard")
    assert await players[mover].move(match, move, version, "overheard") == receipt
    with pytest.raises(Refused) as refused:
        await players[1 - mover].move(match, move, version, "overheard")
    assert refused.value.reason in ("VERSION_CONFLICT", "NOT_YOUR_TURN", "MOVE_ILLEGAL")
    assert await store.heads([match_stream(MatchId(match))]) == [version + 1]


@pytest.mark.parametrize("way", ["seat", "header"])
async def test_who_guesses_invite_codes_is_told_to_wait_and_the_right_one_does_not_help(system, site, way):
    host, guest, guesser = await site.players(3)
    made = await host.create("make_way", seats=2, visibility="private")
    url = f"{system.url}/v1/matches/{made['match']}"

    async def tries(code: str) -> tuple[int, str, str]:
        headers = {"Authorization": f"Bearer {guesser.token}"}
        if way == "seat":
            asked = site.client.post(f"{url}/seats", json={"invite": code}, headers=headers)
        else:
            asked = site.client.get(url, headers=headers | {"Invite-Code": code})
        async with asked as answer:
            return answer.status, (await answer.json())["reason"], answer.headers.get("Retry-After", "")

    answers = [await tries(f"guess-{number}") for number in range(40)]
    refused = [answer for answer in answers if answer[:2] == (403, "NOT_SEATED")]
    late = [answer for answer in answers if answer[:2] == (429, "TOO_MANY_REQUESTS")]
    assert len(refused) + len(late) == len(answers)
    assert len(refused) >= GUESSES  # and a few more that came back with time
    assert late
    assert all(int(after) >= 1 for _, _, after in late)
    await guest.join(made["match"], invite=made["invite"])  # others are not concerned


async def test_who_guesses_recovery_secrets_is_told_to_wait(start_gateway, site):
    url = start_gateway(GUESS_BURST_PER_ADDRESS="3", GUESS_RATE_PER_ADDRESS="0.01")
    player = await site.player()
    body = {"player": player.id, "recovery": "a guess"}
    statuses = []
    for _ in range(5):
        async with site.client.post(f"{url}/v1/players/tokens", json=body) as answer:
            statuses.append((answer.status, answer.headers.get("Retry-After") is not None))
    assert statuses == [(401, False)] * 3 + [(429, True)] * 2


async def _demand_refused_live(system, token: str) -> None:
    """Over a WebSocket too: by a problem, and the close code for unknown callers."""
    async with connect(f"{system.url.replace('http', 'ws', 1)}/v1/live") as socket:
        await socket.send(json.dumps({"type": "hello", "token": token}))
        async with asyncio.timeout(60):
            assert json.loads(await socket.recv())["reason"] == "TOKEN_INVALID"
            await socket.wait_closed()
        assert socket.close_code == UNKNOWN_CALLER
