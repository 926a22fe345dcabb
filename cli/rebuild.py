"""`waystation rebuild`: has a live projection fold all streams into the read models anew."""

from pathlib import Path

from cli.store_url import store_url
from services.core.errors import DomainError
from services.kit import plain_redis
from services.kit.directory import Directory
from services.projection.ask_rebuild import ask_rebuild


async def print_rebuilt(data: Path | None) -> int:
    """Prints how much was folded, or why nothing was; 0 if the read models were rebuilt."""
    with store_url(data) as url:
        try:
            address = await _projection(url)
        except DomainError as error:
            print(f"not rebuilt: {error}")
            return 1
        return await ask_rebuild(address)


async def _projection(url: str) -> str:
    """The address of one that is live. Raises ServiceDown, StoreUnavailable."""
    redis = plain_redis.connect(url)
    try:
        directory = Directory(redis)
        await directory.refresh()
        return directory.service("projection")
    finally:
        await redis.aclose()
