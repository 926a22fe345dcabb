"""One line for each request, the same in every service: `request_served`.

`kind` is what was served (`http`, `frame`, `rpc`, `call` of an exchange, `batch` of events), `method` its
route or name, `code` the status, with `duration_ms`, `match`, `player`, `request_id` and `trace_id` as far
as the kind has them. The two lines of a move cost about 3 % of its CPU (docs/operations.md), so ordinary
ones are written only where LOG_REQUESTS=all or LOG_LEVEL=DEBUG asks for them: always are those of
failures, refusals and slow requests.
"""

from typing import Literal

import structlog

log = structlog.get_logger()

Requests = Literal["failed", "all"]
Level = Literal["debug", "info", "warning"]

# What callers do too often is counted in the metrics; a line for each would help them to do harm.
_TOO_OFTEN = 429

_is_all = False
_is_debugging = False
_slow_s = 1.0


def configure(requests: Requests, slow_ms: int, log_level: str) -> None:
    """`requests`: of which ones ordinary lines are written. `slow_ms`: from when a request is slow."""
    global _is_all, _is_debugging, _slow_s
    _is_all, _is_debugging, _slow_s = requests == "all", log_level == "DEBUG", slow_ms / 1000


def level(http_status: int, took_s: float) -> Level | None:
    """At which level the line is written; None for not at all, which is found out cheaply.

    `http_status`: as `services.kit.statuses` has it, of whatever kind the request is.
    """
    if http_status >= 500 or took_s >= _slow_s:
        return "warning"
    if _is_all or (http_status >= 400 and http_status != _TOO_OFTEN):
        return "info"
    return "debug" if _is_debugging else None


def tell(at: Level, kind: str, method: str, code: str | int, took_s: float, **more: str | int) -> None:
    """Writes the line; what is empty in `more` is left out."""
    fields = {name: value for name, value in more.items() if value != ""}
    getattr(log, at)(
        "request_served", kind=kind, method=method, code=code, duration_ms=round(took_s * 1000, 2), **fields
    )
