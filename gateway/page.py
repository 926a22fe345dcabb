"""The OpenAPI document as one page of HTML that loads nothing from anywhere."""

from collections.abc import Iterator
from html import escape
from typing import Any

import msgspec

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
code,pre{font:14px/1.4 ui-monospace,monospace} pre{background:#f5f5f2;padding:.7rem;overflow:auto}
summary{cursor:pointer;padding:.3rem 0} details{border-bottom:1px solid #ddd} details details{border:0}
.method{display:inline-block;width:4.5rem;font-weight:600} .about{color:#666} table{border-collapse:collapse}
td{padding:.2rem .8rem .2rem 0;vertical-align:top} h2{margin-top:2.5rem;text-transform:capitalize}
"""


def page_of(document: dict[str, Any]) -> str:
    info = document["info"]
    return "".join(
        (
            f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(info['title'])}</title>",
            f"<style>{_STYLE}</style><h1>{escape(info['title'])}</h1>",
            *(f"<p>{escape(part)}</p>" for part in info["description"].split("\n\n")),
            "<p>The same for machines: <a href=/openapi.json>/openapi.json</a></p>",
            *_operations(document["paths"]),
            "<h2>schemas</h2>",
            *(_schema(name, schema) for name, schema in sorted(document["components"]["schemas"].items())),
        )
    )


def _operations(paths: dict[str, Any]) -> Iterator[str]:
    by_tag: dict[str, list[str]] = {}
    for path, methods in paths.items():
        for method, operation in methods.items():
            by_tag.setdefault(operation["tags"][0], []).append(_operation(path, method, operation))
    for tag, written in by_tag.items():
        yield f"<h2>{escape(tag)}</h2>"
        yield from written


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return "".join(
        (
            f"<details><summary><code><span class=method>{method.upper()}</span>{escape(path)}</code> ",
            f"<span class=about>{escape(operation['summary'])}</span></summary>",
            f"<p>{escape(operation['description'])}</p><table>",
            *(_row(f"{found['name']} ({found['in']})", found) for found in operation["parameters"]),
            _row("body", {"description": _name(body)}) if body else "",
            *(_row(status, _answer(answer)) for status, answer in operation["responses"].items()),
            "</table></details>",
        )
    )


def _row(name: str, said: dict[str, Any]) -> str:
    return f"<tr><td><code>{escape(name)}</code><td>{escape(said.get('description', ''))}"


def _answer(answer: dict[str, Any]) -> dict[str, str]:
    schemas = [content["schema"] for content in answer.get("content", {}).values()]
    return {"description": ": ".join(filter(None, (answer["description"], ", ".join(map(_name, schemas)))))}


def _name(schema: dict[str, Any]) -> str:
    if "oneOf" in schema:
        return " or ".join(map(_name, schema["oneOf"]))
    named: str = schema.get("$ref", "").rpartition("/")[2]
    return named or str(schema.get("description", schema.get("type", "any")))


def _schema(name: str, schema: dict[str, Any]) -> str:
    text = msgspec.json.format(msgspec.json.encode(schema), indent=2).decode()
    return f"<details><summary><code>{escape(name)}</code></summary><pre>{escape(text)}</pre></details>"
