"""The run file: while a run goes on, its data folder says where its servers are.

Who runs holds a lock on the file, which the kernel ends with the process, however that ends. So the file of
a run that was killed is told from that of one that lives: a process id may be somebody else's by now.
"""

import fcntl
import json
import os
from pathlib import Path
from typing import IO, NamedTuple

_NAME = "run.json"


class Run(NamedTuple):
    """A run whose file is there. `redis_url`: of its store; empty once it has ended."""

    is_going_on: bool
    redis_url: str = ""


class RunFile:
    """The file of a run of this process, in its data folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME
        self._locked: IO[str] | None = None

    def write(self, *, redis_url: str, url: str) -> None:
        """Takes the place of what a run before has left."""
        written = self._path.with_suffix(f".{os.getpid()}")
        file = written.open("w")
        fcntl.flock(file, fcntl.LOCK_EX)  # before anybody can see it, so that nobody takes it for ended
        json.dump({"redis_url": redis_url, "url": url}, file)
        file.flush()
        written.replace(self._path)
        self._locked = file

    def remove(self) -> None:
        """Removes what this run has written, if anything."""
        if self._locked is not None:
            self._path.unlink(missing_ok=True)
            self._locked.close()
            self._locked = None


def run_in(folder: Path) -> Run | None:
    """The run that goes on in a data folder, or one that ended without tidying up; None for neither."""
    try:
        file = (folder / _NAME).open()
    except FileNotFoundError:
        return None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return Run(is_going_on=True, redis_url=json.load(file)["redis_url"])
    return Run(is_going_on=False)
