"""Entity tags: whether a reader has an answer already, and of which version a sender speaks."""

import re
from collections.abc import Mapping
from hashlib import blake2b

from litestar import Response

from gateway.bodies import passed
from gateway.callers import VERSION_TEXT, version_of

_DIGEST_BYTES = 6
_DIGEST_TEXT = f"[0-9a-f]{{{2 * _DIGEST_BYTES}}}"
_TAG = re.compile(rf'(?:W/)?"?({VERSION_TEXT})(?:-{_DIGEST_TEXT})?"?')
IF_MATCH_PATTERN = rf'^((W/)?"?{VERSION_TEXT}(-{_DIGEST_TEXT})?"?|\*|)$'


def version_in(tag: str) -> int:
    """The version of which an ETag speaks; one may be written without its digest. Raises BadRequest."""
    found = _TAG.fullmatch(tag)
    return version_of(found[1] if found else "", "If-Match")


def tag_of(body: bytes, version: int | None = None) -> str:
    """Of one version each seat sees another body: a browser asks one with the tags of all that it keeps."""
    digest = blake2b(body, digest_size=_DIGEST_BYTES).hexdigest()
    return f'"{digest}"' if version is None else f'"{version}-{digest}"'


def unless_known(
    body: bytes, tag: str, if_none_match: str | None, headers: Mapping[str, str]
) -> Response[bytes]:
    """JSON that is already written, or 304 for whoever has it."""
    headers = {"ETag": tag, **headers}
    if if_none_match is not None and _names(if_none_match, tag):
        return Response(b"", status_code=304, headers=headers)
    return passed(body, headers=headers)


def _names(if_none_match: str, tag: str) -> bool:
    """Weak comparison: who passes an answer on compressed makes its tag a weak one."""
    tags = {each.strip().removeprefix("W/") for each in if_none_match.split(",")}
    return tag in tags or "*" in tags
