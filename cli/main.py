"""`waystation`: run the system, replay a match from its stream, verify a record, rebuild read models."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated, Literal, NoReturn

from cyclopts import App, Parameter
from cyclopts.types import UInt16
from cyclopts.validators import Number

from cli.store_url import NoStore, store_url
from services.core.errors import DomainError
from services.kit.exit_codes import INTERRUPTED, MISUSED, UNREAD

app = App(
    name="waystation",
    help="An event-sourced backend for turn-based board games.",
    version_flags=[],
    suppress_keyboard_interrupt=False,  # `main` says what it means
)


@app.command
def run(
    *,
    host: str = "127.0.0.1",
    port: UInt16 = 8080,
    data: Path | None = None,
    ephemeral: Annotated[bool, Parameter(negative=())] = False,
    workers: Annotated[int, Parameter(validator=Number(gte=1, lte=64))] = 1,
    fsync: Literal["everysec", "always"] = "everysec",
) -> int:
    """Serve everything on this machine, on embedded servers, until Ctrl-C.

    REDIS_URL and NATS_URL make it use those servers instead of embedded ones.

    Parameters
    ----------
    host
        Address the gateway listens on.
    port
        Port the gateway listens on; 0 takes a free one, which is printed.
    data
        Folder that keeps the matches between runs; ./data by default.
    ephemeral
        Keep nothing: use a temporary folder.
    workers
        Rules workers for each title.
    fsync
        When the store flushes an accepted move to the disk.
    """
    from deploy.local.run import run as serve

    return serve(host=host, port=port, data=data, ephemeral=ephemeral, workers=workers, fsync=fsync)


@app.command
def replay(
    match: str,
    *,
    version: int | None = None,
    seat: int | None = None,
    data: Path | None = None,
) -> int:
    """Fold a match from its stream, prove digests and hash chain, and print the board version by version.

    Reads REDIS_URL if it is set; else the store of the run that is going on, or the one it left behind.

    Parameters
    ----------
    match
        Id of the match.
    version
        Print this version only.
    seat
        Through the eyes of this seat; a spectator's by default.
    data
        Folder of the run; ./data by default.
    """
    from cli.replay import print_replay

    return asyncio.run(print_replay(match, version=version, seat=seat, data=data))


@app.command
def verify(record: Path | None = None, *, match: str | None = None, data: Path | None = None) -> int:
    """Prove the record of a finished match offline: chain, digests, commitment, luck and outcome.

    Without a record: prove every table and match in the store, and that nobody knows more of one than its
    stream holds, as after a lost tail. Finds the store as `replay` does.

    Parameters
    ----------
    record
        The file; - for standard input.
    match
        Id of the only table and match to prove in the store.
    data
        Folder of the run; ./data by default.
    """
    if record is not None:
        if match is not None or data is not None:
            _leave("a record is proved without a store: leave out --match and --data", MISUSED)
        from cli.verify import print_verdict

        return print_verdict(record)
    from cli.verify_store import print_store_verdict

    return asyncio.run(print_store_verdict(match, data=data))


@app.command
def rebuild(*, data: Path | None = None) -> int:
    """Fold all streams into the read models anew, while play goes on. One rebuild runs at a time.

    Asks a projection that is live, so this machine must reach it. Reads REDIS_URL if it is set; else it is
    the run that is going on. A worker or a lobby that is away is waited for, two minutes at most. A damaged
    stream is left out and named, and the exit code is 1; after Ctrl-C the projection gives the rebuild up.

    Parameters
    ----------
    data
        Folder of the run; ./data by default.
    """
    from cli.rebuild import print_rebuilt

    return asyncio.run(print_rebuilt(data))


@app.command
def record_match(
    title: str,
    *,
    seats: int = 2,
    options: str = "{}",
    seed: int = 1,
    plies_max: int = 400,
    showing: list[str] | None = None,
) -> int:
    """Print a random match as a recording: board, move and digest at every version.

    Parameters
    ----------
    title
        Slug of the title.
    seats
        Number of players.
    options
        JSON object of the title's options.
    seed
        Chooses the match.
    plies_max
        Take a match of at most so many moves.
    showing
        Take a match whose recording shows this, a regular expression; may be given several times.
    """
    from cli.recording import print_recording

    return print_recording(
        title, seats=seats, options=options, seed=seed, plies_max=plies_max, showing=showing or ()
    )


@app.command
def shadow(
    titles: list[str] | None = None,
    *,
    redis: str | None = None,
    store: Annotated[bool, Parameter(negative=())] = False,
    data: Path | None = None,
) -> int:
    """Replay matches against the present code: recorded ones, or a whole store; report what differs.

    Parameters
    ----------
    titles
        Slugs; all titles by default.
    redis
        URL of a Redis whose matches are to be folded instead.
    store
        Fold the matches of the store instead, which is found as `replay` finds it.
    data
        Folder of the run; ./data by default.
    """
    if bool(titles) + (redis is not None) + (store or data is not None) > 1:
        _leave("titles, --redis, and --store with --data are three things: choose one", MISUSED)
    from cli.recording import shadow_recordings, shadow_redis
    from cli.titles import shipped

    if redis is not None:
        different = asyncio.run(shadow_redis(redis))
    elif store or data is not None:
        with store_url(data) as url:
            different = asyncio.run(shadow_redis(url))
    else:
        different = shadow_recordings(titles or shipped())
    return 1 if different else 0


def main() -> None:
    """What stops a command before it has anything to tell is one line on stderr."""
    try:
        code = app(sys.argv[1:])
        sys.stdout.flush()
        sys.exit(code)
    except BrokenPipeError:  # as of `replay | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes it once more
        sys.exit(UNREAD)
    except KeyboardInterrupt:
        _leave("interrupted; nothing was changed", INTERRUPTED)
    except (NoStore, DomainError) as error:
        _leave(str(error), 1)


def _leave(why: str, code: int) -> NoReturn:
    print(f"waystation: {why}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
