import time
from collections.abc import AsyncIterator
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from redis.asyncio import Redis

from deploy.local.servers import Valkey
from services.core.errors import TokenInvalid
from services.core.ids import PlayerId
from services.kit import plain_redis, tokens
from services.kit.tokens import KEYS, Tokens

pytestmark = pytest.mark.anyio
ADA = PlayerId("ada")


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[Redis]:
    """A server of its own: the signing keys have one name."""
    with Valkey(tmp_path) as valkey:
        client = plain_redis.connect(valkey.url)
        yield client
        await client.aclose()


async def gateway(redis: Redis, lifetime_s: int = tokens.TOKEN_S) -> Tokens:
    each = Tokens(redis, lifetime_s)
    await each.refresh()
    return each


async def test_a_token_is_good_at_every_gateway_and_after_a_restart(redis: Redis) -> None:
    first, second = await gateway(redis), await gateway(redis)
    token, expires_at = first.issue(ADA)
    assert second.verify(token).player == ADA
    assert (await gateway(redis)).verify(token).player == ADA
    assert time.time() < expires_at <= time.time() + tokens.TOKEN_S
    assert await redis.hlen(KEYS) == 1


async def test_an_expired_token_is_refused_even_if_it_was_good_before(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await gateway(redis)
    token, expires_at = one.issue(ADA)
    assert one.verify(token).player == ADA
    monkeypatch.setattr(tokens.time, "time", lambda: expires_at + tokens.LEEWAY_S + 1.0)
    with pytest.raises(TokenInvalid):
        one.verify(token)


async def test_no_more_tokens_are_remembered_than_the_bound(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "_SEEN_MAX", 3)
    one = await gateway(redis)
    issued = [one.issue(PlayerId(f"p{number}"))[0] for number in range(5)]
    for token in (*issued, issued[0]):
        assert one.verify(token).player == f"p{issued.index(token)}"
    assert len(one._seen) == 3


GOOD = {"sub": "ada", "iss": "waystation", "aud": "waystation", "exp": 4e9}
PAST, FUTURE = 1e9, 4e9


async def test_a_token_with_every_claim_is_good(redis: Redis) -> None:
    one = await gateway(redis)
    kid = jwt.get_unverified_header(one.issue(ADA)[0])["kid"]
    token = jwt.encode(GOOD, one._keys[kid].private, "EdDSA", headers={"kid": kid})
    assert one.verify(token).player == ADA


@pytest.mark.parametrize(
    "claims",
    [
        *({name: value for name, value in GOOD.items() if name != missing} for missing in GOOD),
        GOOD | {"exp": PAST},
        GOOD | {"nbf": FUTURE},
        GOOD | {"iat": FUTURE},
        GOOD | {"aud": "elsewhere"},
        GOOD | {"iss": "elsewhere"},
        GOOD | {"sub": 7},
    ],
    ids=str,
)
async def test_a_claim_that_is_missing_or_false_spoils_a_token_signed_by_us(
    redis: Redis, claims: dict[str, object]
) -> None:
    one = await gateway(redis)
    kid = jwt.get_unverified_header(one.issue(ADA)[0])["kid"]
    with pytest.raises(TokenInvalid):
        one.verify(jwt.encode(claims, one._keys[kid].private, "EdDSA", headers={"kid": kid}))


@pytest.mark.parametrize("algorithm", ["EdDSA", "none", "HS256", "ES256"])
async def test_a_token_signed_by_another_key_or_algorithm_is_refused(redis: Redis, algorithm: str) -> None:
    one = await gateway(redis)
    kid = jwt.get_unverified_header(one.issue(ADA)[0])["kid"]
    public = one._keys[kid].public.public_bytes_raw()  # no secret: the classic mistake is to take it for one
    key = {
        "EdDSA": Ed25519PrivateKey.generate(),
        "ES256": ec.generate_private_key(ec.SECP256R1()),
        "none": None,
    }.get(algorithm, public)
    with pytest.raises(TokenInvalid):
        one.verify(jwt.encode(GOOD, key, algorithm, headers={"kid": kid}))


@pytest.mark.parametrize("text", ["", "x", "a.b.c", "é" * 40, "." * 1000])
async def test_text_that_is_no_token_is_refused(redis: Redis, text: str) -> None:
    with pytest.raises(TokenInvalid):
        (await gateway(redis)).verify(text)


async def test_a_new_key_signs_only_when_all_have_read_it_and_the_old_one_still_verifies(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await gateway(redis)
    before = one.issue(ADA)[0]
    await one.rotate()
    assert jwt.get_unverified_header(one.issue(ADA)[0])["kid"] == "1"
    later = time.time() + tokens.SPREAD_S + 1
    monkeypatch.setattr(tokens.time, "time", lambda: later)
    assert jwt.get_unverified_header(one.issue(ADA)[0])["kid"] == "2"
    assert one.verify(before).player == ADA


async def test_an_old_key_gives_way_by_itself_and_is_forgotten_after_its_last_token(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    await gateway(redis)
    now = time.time()
    for _ in range(2):
        now += tokens.ROTATE_AFTER_S + 1
        monkeypatch.setattr(tokens.time, "time", lambda now=now: now)
        await gateway(redis)
    assert {kid.decode() for kid in await redis.hkeys(KEYS)} == {"2", "3"}


async def test_two_gateways_that_rotate_at_once_agree_on_one_key(redis: Redis) -> None:
    first, second = await gateway(redis), await gateway(redis)
    await first.rotate()
    await second.rotate()
    assert {kid.decode() for kid in await redis.hkeys(KEYS)} == {"1", "2"}
    await first.refresh()
    assert first._keys["2"].created_at == second._keys["2"].created_at
