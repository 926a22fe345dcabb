"""The OpenAPI document as a judge: whatever the gateway answers must be what it says that it answers."""

import re
from typing import Any

import httpx
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

_URI = "urn:openapi"


class Contract:
    """`document`: the parsed /openapi.json."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        resource: Resource[Any] = Resource.from_contents(document, default_specification=DRAFT202012)
        self._registry: Registry[Any] = Registry().with_resource(_URI, resource)
        self._paths = [(_pattern(path), path) for path in document["paths"]]

    def check(self, response: httpx.Response) -> None:
        """Fails unless the document has the answer's path, status and media type, and its schema fits."""
        response.read()
        path = self._path(response.request.url.path)
        if path is None:  # docs and unknown paths
            return
        operation = self.document["paths"][path].get(response.request.method.lower())
        if operation is None or response.status_code == 304:
            return
        answers = operation["responses"]
        status = str(response.status_code)
        assert status in answers, f"{response.request.method} {path} does not say that it answers {status}"
        media_type = response.headers["content-type"].partition(";")[0]
        content = answers[status]["content"]
        assert media_type in content, f"{path} answers {status} as {media_type}"
        if media_type.endswith("json"):
            self.validate(content[media_type]["schema"], response.json())

    def fits(self, component: str, value: Any) -> bool:
        return self._validator({"$ref": f"#/components/schemas/{component}"}).is_valid(value)

    def validate(self, schema: Any, value: Any) -> None:
        """Raises jsonschema's ValidationError."""
        self._validator(schema).validate(value)

    def _validator(self, schema: Any) -> Draft202012Validator:
        return Draft202012Validator(_absolute(schema), registry=self._registry)

    def _path(self, path: str) -> str | None:
        """The most exact template that `path` fits: fewest parameters."""
        found = [template for pattern, template in self._paths if pattern.fullmatch(path)]
        return min(found, key=lambda template: template.count("{"), default=None)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))


def _absolute(schema: Any) -> Any:
    """`schema` with its references pointing into the document."""
    match schema:
        case dict():
            moved = {name: _absolute(value) for name, value in schema.items()}
            if isinstance(there := schema.get("$ref"), str):
                moved["$ref"] = _URI + there
            return moved
        case list():
            return [_absolute(item) for item in schema]
        case _:
            return schema
