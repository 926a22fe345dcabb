"""Old event data to new: one function per step, from each schema number to the next.

History is never edited. When an event type's data changes shape, raise its number in `CURRENT`
and register here how the old JSON becomes the new one; keep a golden file of the old shape under
`tests/core/golden/`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Raw

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]

# Event type -> today's schema number, where it is not 1.
CURRENT: Mapping[str, int] = {}

# (event type, schema number) -> the step to the next number.
STEPS: Mapping[tuple[str, int], Upcaster] = {}


def schema_of(event_type: str) -> int:
    """The schema number that new events of this type are written with."""
    return CURRENT.get(event_type, 1)


def current(
    event_type: str,
    schema: int,
    data: Raw,
    steps: Mapping[tuple[str, int], Upcaster] = STEPS,
    wanted: Mapping[str, int] = CURRENT,
) -> Raw:
    """`data` in today's schema. Raises KeyError when a step is missing or the schema is of the future."""
    goal = wanted.get(event_type, 1)
    if schema == goal:
        return data
    fields = msgspec.json.decode(data)
    while schema != goal:
        fields = steps[event_type, schema](fields)
        schema += 1
    return Raw(msgspec.json.encode(fields))
