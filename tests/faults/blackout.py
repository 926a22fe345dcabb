"""A power cut for Valkey: what it had written and not yet flushed is gone when it comes back.

A kill leaves the written bytes in the kernel's cache, so it alone loses next to nothing.
"""

import os
from pathlib import Path
from typing import NamedTuple

from deploy.local.servers import Valkey


class Mark(NamedTuple):
    """How long the append-only file was at a moment."""

    log: Path
    size: int


def mark(valkey: Valkey) -> Mark:
    """The file that Valkey appends to, and its size now."""
    logs = (valkey.data_dir / "appendonlydir").glob("*.incr.aof")
    log = max(logs, key=lambda path: int(path.name.split(".")[-3]))
    return Mark(log, log.stat().st_size)


def forget_since(before: Mark, valkey: Valkey) -> int:
    """Cuts a dead Valkey's file back to `before`; how many bytes were lost.

    0 when the file was replaced by a rewrite meanwhile: that one has been flushed.
    """
    log, size = mark(valkey)
    if log != before.log or size <= before.size:
        return 0
    os.truncate(log, before.size)
    return size - before.size
