"""Where the matches are that a command is to look into."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def store_url(folder: Path | None) -> Iterator[str]:
    """The URL that REDIS_URL gives, that of the run that is going on, or of a server on what a run left.

    `folder`: of the run; ./data by default.
    """
    if url := os.environ.get("REDIS_URL"):
        yield url
        return
    # Only a checkout has the local runner: elsewhere REDIS_URL says where the matches are.
    from deploy.local.servers import Valkey
    from deploy.local.system import RUN_FILE

    data = (folder or Path("data")).resolve()
    running = data / RUN_FILE
    if running.exists():
        found: str = json.loads(running.read_text())["redis_url"]
        yield found
        return
    valkey = Valkey(data / "valkey")
    try:
        yield valkey.start()
    finally:
        valkey.stop()
