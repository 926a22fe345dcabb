"""Secrets that strangers may try to guess: invite codes, recovery secrets, the operator's token.

A wrong one costs.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from gateway.limits import Buckets
from gateway.settings import GatewaySettings
from services.core.errors import NotAllowed, NotSeated, TokenInvalid
from services.core.ids import PlayerId

_WRONG = (NotAllowed, NotSeated, TokenInvalid)


class Guesses:
    """Counts by player and by address, whoever runs out first."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._of_players = Buckets(settings.guess_rate_per_player, settings.guess_burst_per_player)
        self._of_addresses = Buckets(settings.guess_rate_per_address, settings.guess_burst_per_address)

    @contextmanager
    def one(self, address: str, player: PlayerId | None = None) -> Iterator[None]:
        """Around one attempt, which is paid for in advance: many at once are no way round.

        Raises TooManyRequests before anything is tried.
        """
        self._of_addresses.take(address)
        try:
            if player is not None:
                self._of_players.take(player)
        except BaseException:
            self._of_addresses.give(address)
            raise
        try:
            yield
        except _WRONG:
            raise
        except BaseException:
            self._give_back(address, player)
            raise
        self._give_back(address, player)

    def _give_back(self, address: str, player: PlayerId | None) -> None:
        self._of_addresses.give(address)
        if player is not None:
            self._of_players.give(player)
