"""Where a request comes from. Headers count only when a trusted proxy sent them."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

UNKNOWN = "unknown"


class Addresses:
    """Client addresses, behind proxies in any of the `trusted` networks or not."""

    def __init__(self, trusted: tuple[str, ...]) -> None:
        self._trusted = tuple(ip_network(text) for text in trusted)

    def client(self, peer: str | None, forwarded_for: str | None) -> str:
        """The nearest address that is no trusted proxy's. `forwarded_for`: the header X-Forwarded-For."""
        if peer is None:
            return UNKNOWN
        if not self._trusted or not forwarded_for:
            return peer
        hops = [peer, *(hop.strip() for hop in reversed(forwarded_for.split(",")))]
        return next((hop for hop in hops if not self._is_trusted(hop)), hops[-1])

    def _is_trusted(self, hop: str) -> bool:
        address = _parsed(hop)
        return address is not None and any(address in network for network in self._trusted)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
