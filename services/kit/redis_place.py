"""Where Redis is: at one address, or wherever a group of Sentinels says that the primary is at the moment."""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from urllib.parse import parse_qs, unquote, urlsplit

from msgspec import Struct

from services.core.errors import StoreUnavailable
from services.kit.redis_resp import Reply, ReplyReader, command

Address = tuple[str, int]

SENTINEL_S_MAX = 0.5  # a Sentinel that takes longer has no say
_SCHEMES = {"redis": False, "rediss": False, "redis+sentinel": True, "rediss+sentinel": True}
_HOW = "REDIS_URL must look like redis://host:6379, or redis+sentinel://host:26379,host:26379/name"


class RedisPlace(Struct, frozen=True):
    """A REDIS_URL taken apart. `primary_name`: what Sentinels call the group; empty for a plain server."""

    addresses: tuple[Address, ...]
    primary_name: str
    user: str
    password: str
    database: int
    is_tls: bool
    sentinel_user: str
    sentinel_password: str

    @property
    def shown(self) -> str:
        """The addresses as an operator wrote them; no password."""
        return ",".join(f"{host}:{port}" for host, port in self.addresses)

    async def primary(self) -> Address:
        """Where to connect now. Raises StoreUnavailable when no Sentinel knows."""
        if not self.primary_name:
            return self.addresses[0]
        said = await asyncio.gather(*(self._said(address) for address in self.addresses))
        named = Counter(address for address in said if address is not None)
        if not named:
            raise StoreUnavailable(f"no Sentinel of {len(said)} names a primary of {self.primary_name}")
        # One that was cut off from the others may still name the primary of before.
        return named.most_common(1)[0][0]

    async def _said(self, sentinel: Address) -> Address | None:
        """What one Sentinel answers; None when it knows nothing or cannot be asked."""
        try:
            async with asyncio.timeout(SENTINEL_S_MAX):
                replies = await self._asked(sentinel)
        except (OSError, EOFError, ValueError):
            return None
        match replies[-1]:
            case [bytes(host), bytes(port)]:
                return host.decode(), int(port)
        return None

    async def _asked(self, sentinel: Address) -> list[Reply]:
        reader, writer = await asyncio.open_connection(*sentinel, ssl=self.is_tls or None)
        try:
            questions = [command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.primary_name)]
            if self.sentinel_password:
                user = self.sentinel_user or "default"
                questions.insert(0, command("AUTH", user, self.sentinel_password))
            writer.write(b"".join(questions))
            parser = ReplyReader()
            replies: list[Reply] = []
            while len(replies) < len(questions):
                if not (chunk := await reader.read(4096)):
                    raise EOFError
                replies += parser.feed(chunk)
            return replies
        finally:
            writer.close()


def redis_place(url: str) -> RedisPlace:
    """Takes a URL apart; raises ValueError for one that cannot be used.

    redis://[user:password@]host[:port][/database], or redis+sentinel://[user:password@]host[:port],...
    /name[/database][?sentinel_user=...&sentinel_password=...]; rediss for TLS, to Sentinels as well.
    """
    scheme, _, rest = url.partition("://")
    # urlsplit refuses a list of hosts in which only some stand in brackets.
    netloc = re.split("[/?#]", rest, maxsplit=1)[0]
    parts = urlsplit(f"{scheme}://{rest[len(netloc) :]}")
    credentials, _, hosts = netloc.rpartition("@")
    user, _, password = credentials.partition(":")
    path = [unquote(part) for part in parts.path.strip("/").split("/") if part]
    asked = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    if parts.scheme not in _SCHEMES:
        raise ValueError(_HOW)
    by_sentinel = _SCHEMES[parts.scheme]
    name = path.pop(0) if by_sentinel and path else ""
    addresses = _addresses(hosts.split(","), 26379 if by_sentinel else 6379)
    if len(path) > 1 or bool(name) != by_sentinel or (len(addresses) > 1 and not by_sentinel):
        raise ValueError(_HOW)
    return RedisPlace(
        addresses,
        primary_name=name,
        user=unquote(user) or "default",
        password=unquote(password),
        database=_database(path),
        is_tls=parts.scheme.startswith("rediss"),
        sentinel_user=asked.get("sentinel_user", ""),
        sentinel_password=asked.get("sentinel_password", ""),
    )


def _addresses(hosts: Sequence[str], port: int) -> tuple[Address, ...]:
    try:
        parts = [urlsplit(f"//{host}") for host in hosts]
        addresses = tuple((part.hostname or "", part.port or port) for part in parts)
    except ValueError as error:  # a port that is no number, a bracket that is not closed
        raise ValueError(_HOW) from error
    if not all(host for host, _ in addresses):
        raise ValueError(_HOW)
    return addresses


def _database(path: Sequence[str]) -> int:
    if path and not path[0].isdecimal():
        raise ValueError(_HOW)
    return int(path[0]) if path else 0
