"""Names of metrics as PromQL writes them, and as processes serve them."""

import re

from prometheus_client.parser import text_string_to_metric_families

_STRINGS = re.compile(r'"[^"]*"')
_IN_BRACES = re.compile(r"\{[^}]*\}|\[[^\]]*\]")
_GROUPING = re.compile(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)")
_WORD = re.compile(r"\b[a-zA-Z_:][a-zA-Z0-9_:]*")  # not the unit of "5m"
_WORDS = {"and", "or", "unless", "offset", "bool"}


def asked_for(query: str) -> set[str]:
    """The series that a query reads: every name that is not called as a function."""
    bare = _IN_BRACES.sub("", _STRINGS.sub("", query))
    bare = _GROUPING.sub("", bare)
    found = set()
    for word in _WORD.finditer(bare):
        is_called = bare[word.end() :].lstrip().startswith("(")
        if not is_called and word.group() not in _WORDS:
            found.add(word.group())
    return found


def served(text: str) -> dict[str, set[str]]:
    """The names in a /metrics, each with its labels; of a metric without samples, all it can have."""
    names: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for suffix in {"counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"]}.get(
            family.type, [""]
        ):
            names.setdefault(family.name + suffix, set())
        for sample in family.samples:
            names.setdefault(sample.name, set()).update(sample.labels)
    return names
