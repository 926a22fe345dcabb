"""What a session needs of whatever carries its frames."""

from collections.abc import Awaitable, Sequence
from typing import Protocol


class Transport(Protocol):
    """A socket that carries texts."""

    async def receive(self) -> bytes | None:
        """The next frame; None once the peer has gone."""

    def send(self, frames: Sequence[bytes], /) -> Awaitable[None]:
        """Sends them in order, and returns when there is room for more.

        Raises ConnectionError once the peer has gone.
        """

    async def close(self, code: int, reason: str) -> None:
        """Ends the connection after everything sent."""

    def drop(self, code: int, reason: str) -> None:
        """Ends the connection whatever still waits to be sent; `receive` then returns None."""
