"""Players: guests with a token, renewed with their recovery secret."""

from litestar import Response, post
from msgspec import Struct

from gateway.bodies import Body, answered
from gateway.parts import Parts
from gateway.requests import AnyRequest
from gateway.says import says
from services.core import errors
from services.core.ids import PlayerId

# A new identity is worth more to a stranger than a read: it comes with limits of its own.
PLAYER_COST = 10


class Credentials(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`token`: for Authorization headers, until `expires_at` (UTC ms). `recovery`: renews it; shown once."""

    player: str
    token: str
    expires_at: int
    recovery: str = ""


class Recovery(Struct, frozen=True, forbid_unknown_fields=True):
    """A player and the secret that came with it."""

    player: str
    recovery: str


_RECOVERY = Body(Recovery)


@post("/v1/players", tags=["players"], opt=says(Credentials, refuses=(errors.StoreUnavailable,)))
async def create_player(request: AnyRequest, parts: Parts) -> Response[bytes]:
    """A new guest player. Keep the recovery secret: tokens expire, and it renews them."""
    parts.address_rate.take(request.scope["state"]["address"], PLAYER_COST)
    guest = await parts.players.create()
    return answered(_credentials(parts, guest.player, guest.recovery), 201)


@post(
    "/v1/players/tokens",
    tags=["players"],
    opt=says(
        Credentials,
        body=_RECOVERY,
        refuses=(errors.NoSuchPlayer, errors.TokenInvalid, errors.StoreUnavailable),
    ),
)
async def renew_token(request: AnyRequest, parts: Parts, body: bytes) -> Response[bytes]:
    """A new token for a guest who knows the recovery secret."""
    parts.address_rate.take(request.scope["state"]["address"], PLAYER_COST)
    given = _RECOVERY.read(body)
    with parts.guesses.one(request.scope["state"]["address"]):
        player = await parts.players.recovered(given.player, given.recovery)
    return answered(_credentials(parts, player), 201)


def _credentials(parts: Parts, player: PlayerId, recovery: str = "") -> Credentials:
    token, expires_at_s = parts.tokens.issue(player)
    return Credentials(player=player, token=token, expires_at=expires_at_s * 1000, recovery=recovery)
