"""What an operator of the gateway can set; each field is an environment variable in capitals."""

from ipaddress import ip_network
from typing import Annotated

from msgspec import Meta

from services.kit.settings import Port, SettingInvalid, Settings
from services.kit.tokens import TOKEN_S

Rate = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1)]


class GatewaySettings(Settings, frozen=True, kw_only=True):
    """`lobby_address`, `projection_address`: instead of what the directory says.

    `admin_token`: bearer token of operators; empty for no operator. `trusted_proxies`: addresses or
    networks whose X-Forwarded-For is believed. `rate_*`: requests per second, 0 for no limit;
    `burst_*`: how many may come at once; `guess_*`: the same for wrong codes, secrets and tokens.
    `token_s`: how long a token is good. `cached_places`: matches whose seats are remembered.
    """

    port: Port = 8080
    lobby_address: str = ""
    projection_address: str = ""
    admin_token: str = ""
    trusted_proxies: tuple[str, ...] = ()
    rate_per_player: Rate = 100
    burst_per_player: Count = 200
    rate_per_address: Rate = 1_000
    burst_per_address: Count = 2_000
    guess_rate_per_player: Rate = 0.2
    guess_burst_per_player: Count = 10
    guess_rate_per_address: Rate = 2
    guess_burst_per_address: Count = 100
    sockets_per_player: Count = 32
    sockets_per_address: Count = 512
    sockets: Count = 20_000
    cached_places: Count = 50_000
    token_s: Count = TOKEN_S

    def __post_init__(self) -> None:
        for text in self.trusted_proxies:
            try:
                ip_network(text)
            except ValueError as error:
                raise SettingInvalid(f"TRUSTED_PROXIES cannot be used: {error}") from None
