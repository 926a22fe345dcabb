"""What schemathesis is told about this API: who asks, and what a JSON Schema cannot say. Loaded by its name.

TOKENS in the environment: of players who ask in turns, so that one sits down where another waits.
COUNTED: the file for how often each operation answered with each status.
"""

import atexit
import itertools
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis import AuthContext, Case, CheckContext, HookContext, Response

_TOKENS = itertools.cycle(os.environ["TOKENS"].split())

# positive_data_acceptance asks that whatever fits the schema be accepted. It is replaced by a check of ours,
# for a schema cannot say that ... By the field, or the reason, of the refusal.
BEYOND_SCHEMAS = {
    "page_token": "a page token must have come from a page of the same list",
    "OPTION_INVALID": "options must go with each other",
    "options": "options must be those of the table's own title, and go with the number of seats",
    "seats": "a title sets its own number of seats",
    "seat": "a table has its own number of seats",
    "MOVE_UNREADABLE": "a move must be one of the match's own title",
    "clock": "an increment may not be larger than the initial time",
    "request": "text in a header or path may be cut or refused by HTTP itself",
}
print("not checked as it comes:", "positive_data_acceptance, and that 3.0 is taken for 3, since")
for _reason in BEYOND_SCHEMAS.values():
    print(f"  {_reason}")
ACCEPTED = {*range(200, 400), 401, 403, 404, 409, 412, 422, 429, 503}


@schemathesis.auth(refresh_interval=None)
class InTurns:
    """Signs each request as the next player."""

    def get(self, case: Case, context: AuthContext) -> str:
        return next(_TOKENS)

    def set(self, case: Case, data: str, context: AuthContext) -> None:
        case.headers["Authorization"] = f"Bearer {data}"


@schemathesis.hook
def map_body(context: HookContext, body: Any) -> Any:
    """Writes 3.0 as 3: to JSON Schema both are integers, to this API only one is."""
    return _whole(body)


_answers: Counter[str] = Counter()


@schemathesis.hook
def after_call(context: HookContext, case: Case, response: Response) -> None:
    operation = case.operation.definition.raw.get("operationId", case.operation.label)
    _answers[f"{operation} {response.status_code}"] += 1


@atexit.register
def _write_down() -> None:
    Path(os.environ["COUNTED"]).write_text(json.dumps(_answers))


@schemathesis.check
def valid_data_is_accepted(ctx: CheckContext, response: Response, case: Case) -> bool | None:
    """positive_data_acceptance, but for refusals over something that no schema can say."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code in ACCEPTED:
        return None
    problem = json.loads(response.content)
    beyond = {problem.get("field"), problem.get("reason")} & BEYOND_SCHEMAS.keys()
    assert beyond, f"valid data was refused: {problem}"
    return None


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return value
