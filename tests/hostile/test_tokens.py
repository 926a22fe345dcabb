"""Tokens that nobody issued, others' seats, private tables: refused, and nothing is stored."""

import base64
import json
import time
import uuid

import jwt
import pytest

from services.core.ids import MatchId, match_stream
from tests.e2e.site import Player, Refused, gathered

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
)


@pytest.mark.parametrize("how", FORGERIES)
async def test_a_token_that_nobody_issued_is_refused_and_nothing_is_stored(site, store, how):
    players = await site.players(2)
    match = await gathered(players, "make_way")
    pages = [await player.legal_moves(match) for player in players]
    mover, page = next((player, page) for player, page in zip(players, pages, strict=True) if page["choices"])
    stranger = Player(site, mover.id, forged(mover.token, how) or " ")
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
