"""Where the matches are that a command is to look into. Looking makes nothing that was not there."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from services.kit.redis_place import redis_place


class NoStore(Exception):
    """There is no store to look into; the message is one line for the operator."""


class NoRun(NoStore):
    """No run is going on in the data folder."""


@contextmanager
def store_url(folder: Path | None) -> Iterator[str]:
    """As `live_store_url`; where no run is going on, that of a server on what one left. Raises NoStore."""
    with ExitStack() as serving:
        try:
            url = live_store_url(folder)
        except NoRun:
            url = serving.enter_context(_left_behind(_resolved(folder)))
        yield url


def live_store_url(folder: Path | None) -> str:
    """The URL that REDIS_URL gives, or that of the run that is going on. Raises NoRun, NoStore.

    `folder`: of the run; ./data by default.
    """
    if told := os.environ.get("REDIS_URL", ""):
        return checked(told)
    # Only a checkout has the local runner: elsewhere REDIS_URL says where the matches are.
    from deploy.local.run_file import run_in

    data = _resolved(folder)
    run = run_in(data)
    if run is not None and run.is_going_on:
        return run.redis_url
    killed = " (the last one ended without tidying up)" if run else ""
    hint = "start one with `waystation run`, name another folder with --data, or set REDIS_URL"
    raise NoRun(f"no run is going on in {data}{killed}; {hint}")


def checked(url: str) -> str:
    """Raises NoStore for a URL that is none."""
    try:
        redis_place(url)
    except ValueError as error:
        raise NoStore(str(error)) from error
    return url


@contextmanager
def _left_behind(data: Path) -> Iterator[str]:
    """A server, for the time of the block, on the matches that runs have left. Raises NoStore."""
    if not (data / "valkey").is_dir():
        raise NoStore(f"no run has left matches in {data}; name another folder with --data, or set REDIS_URL")
    from deploy.local.servers import ServerFailed, Valkey

    valkey = Valkey(data / "valkey")
    try:
        yield valkey.start()
    except ServerFailed as failure:
        raise NoStore(str(failure)) from failure
    finally:
        valkey.stop()


def _resolved(folder: Path | None) -> Path:
    return (folder or Path("data")).resolve()
