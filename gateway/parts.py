"""Everything a request may need, opened once when the gateway starts and closed in reverse."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import Struct

from gateway.addresses import Addresses
from gateway.guesses import Guesses
from gateway.identity import Identity
from gateway.limits import Buckets
from gateway.live.following import Sight
from gateway.live.hub import Hub
from gateway.live.session import Lent
from gateway.live.sockets import Sockets
from gateway.matches import Matches
from gateway.peers import Lobby, Projection
from gateway.places import Places
from gateway.pushes import Pushes
from gateway.readiness import Readiness
from gateway.settings import GatewaySettings
from gateway.titles import Titles
from gateway.workers import Workers
from services.kit import plain_redis
from services.kit.backends import opened_store
from services.kit.channels import Channels
from services.kit.directory import Directory
from services.kit.players import Players
from services.kit.tokens import Tokens


class Parts(Struct, frozen=True, kw_only=True):
    """What the routes are given."""

    addresses: Addresses
    player_rate: Buckets
    address_rate: Buckets
    guesses: Guesses
    directory: Directory
    players: Players
    tokens: Tokens
    identity: Identity
    titles: Titles
    lobby: Lobby
    projection: Projection
    places: Places
    matches: Matches
    sockets: Sockets
    readiness: Readiness
    lent: Lent


@asynccontextmanager
async def opened(settings: GatewaySettings) -> AsyncIterator[Parts]:
    """Raises StartFailed when Redis is not safe or does not answer."""
    async with AsyncExitStack() as closing:
        store = await opened_store(settings)
        closing.push_async_callback(store.close)
        redis = plain_redis.connect(settings.redis_url)
        closing.push_async_callback(redis.aclose)
        channels = Channels()
        closing.push_async_callback(channels.close)
        fixed = {"lobby": settings.lobby_address, "projection": settings.projection_address}
        directory = Directory(redis, fixed)
        tokens = Tokens(redis, settings.token_s)
        for part in (directory, tokens):
            await part.start()
            closing.push_async_callback(part.stop)
        pushes = Pushes()
        workers = Workers(directory, channels, pushes)
        workers.start()
        closing.push_async_callback(workers.close)
        lobby = Lobby(channels, directory)
        guesses = Guesses(settings)
        places = Places(lobby, guesses, settings.cached_places)
        matches = Matches(places, workers)
        hub = await closing.enter_async_context(Hub.opened(store, matches, pushes))
        identity = Identity(tokens, settings.admin_token)
        sockets = Sockets(settings)
        player_rate = Buckets(settings.rate_per_player, settings.burst_per_player)
        address_rate = Buckets(settings.rate_per_address, settings.burst_per_address)
        yield Parts(
            addresses=Addresses(settings.trusted_proxies),
            player_rate=player_rate,
            address_rate=address_rate,
            guesses=guesses,
            directory=directory,
            players=Players(redis),
            tokens=tokens,
            identity=identity,
            titles=Titles(directory),
            lobby=lobby,
            projection=Projection(channels, directory),
            places=places,
            matches=matches,
            sockets=sockets,
            readiness=Readiness(directory),
            lent=Lent(
                identity=identity,
                matches=matches,
                sight=Sight(hub, places),
                sockets=sockets,
                player_rate=player_rate,
                address_rate=address_rate,
            ),
        )
