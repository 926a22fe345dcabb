"""Where the matches are that a command is to look into. Looking makes nothing that was not there."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.kit.redis_place import redis_place


class NoStore(Exception):
    """There is no store to look into; the message is one line for the operator."""


@contextmanager
def store_url(folder: Path | None) -> Iterator[str]:
    """The URL that REDIS_URL gives, that of the run that is going on, or of a server on what a run left.

    `folder`: of the run; ./data by default. Raises NoStore.
    """
    data = _resolved(folder)
    if url := _told() or _of_run(data):
        yield url
        return
    if not (data / "valkey").is_dir():
        raise NoStore(f"no run has left matches in {data}; name another folder with --data, or set REDIS_URL")
    # Only a checkout has the local runner: elsewhere REDIS_URL says where the matches are.
    from deploy.local.servers import ServerFailed, Valkey

    valkey = Valkey(data / "valkey")
    try:
        yield valkey.start()
    except ServerFailed as failure:
        raise NoStore(str(failure)) from failure
    finally:
        valkey.stop()


def live_store_url(folder: Path | None) -> str:
    """As `store_url`, for who needs a system that is running. Raises NoStore."""
    data = _resolved(folder)
    if url := _told() or _of_run(data):
        return url
    raise NoStore(f"no run is going on in {data}; name another folder with --data, or set REDIS_URL")


def checked(url: str) -> str:
    """Raises NoStore for a URL that is none."""
    try:
        redis_place(url)
    except ValueError as error:
        raise NoStore(str(error)) from error
    return url


def _resolved(folder: Path | None) -> Path:
    return (folder or Path("data")).resolve()


def _told() -> str:
    url = os.environ.get("REDIS_URL", "")
    return checked(url) if url else ""


def _of_run(data: Path) -> str:
    """The URL of the store of the run that is going on; empty if there is none."""
    from deploy.local.system import RUN_FILE

    running = data / RUN_FILE
    if not running.exists():
        return ""
    found: str = json.loads(running.read_text())["redis_url"]
    return found
