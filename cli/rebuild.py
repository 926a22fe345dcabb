"""`waystation rebuild`: has a live projection fold all streams into the read models anew."""

from pathlib import Path

from cli.store_url import NoStore, live_store_url
from services.core.errors import DomainError
from services.kit import plain_redis
from services.kit.directory import Directory
from services.projection.ask_rebuild import ask_rebuild


async def print_rebuilt(data: Path | None) -> int:
    """Prints how much was folded, or why nothing was; the exit code of `ask_rebuild`."""
    try:
        directory = await _directory(live_store_url(data))
    except (DomainError, NoStore) as error:
        print(f"not rebuilt: {error}")
        return 1
    return await ask_rebuild(directory)


async def _directory(url: str) -> Directory:
    """Who is live at this moment. Raises StoreUnavailable."""
    redis = plain_redis.connect(url)
    try:
        directory = Directory(redis)
        await directory.refresh()
        return directory
    finally:
        await redis.aclose()
