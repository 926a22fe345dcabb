"""Who stands behind a bearer token: a player, or the operator."""

import hmac
from hashlib import sha256

from services.core.errors import NotAllowed, TokenInvalid
from services.core.ids import PlayerId
from services.kit.tokens import Holder, Tokens

_SCHEME = "bearer "


class Identity:
    """Reads Authorization headers. `admin_token` empty: there is no operator."""

    def __init__(self, tokens: Tokens, admin_token: str) -> None:
        self._tokens = tokens
        self._admin = sha256(admin_token.encode()).digest() if admin_token else None

    def player(self, authorization: str | None) -> PlayerId:
        """Raises TokenInvalid, also when there is no token at all."""
        return self.bearer(authorization).player

    def bearer(self, authorization: str | None) -> Holder:
        """The same, and until when the token is good."""
        return self._tokens.verify(_bearer(authorization))

    def bearer_if_any(self, authorization: str | None) -> Holder | None:
        """None for a request without a token; raises TokenInvalid for one with a bad token."""
        return None if authorization is None else self.bearer(authorization)

    def holder(self, token: str) -> Holder:
        """Whose token this is. Raises TokenInvalid."""
        return self._tokens.verify(token)

    def require_operator(self, authorization: str | None) -> None:
        """Raises TokenInvalid without a token, NotAllowed unless it is the operator's."""
        given = sha256(_bearer(authorization).encode()).digest()
        if self._admin is None or not hmac.compare_digest(given, self._admin):
            raise NotAllowed("an operator's token")


def _bearer(authorization: str | None) -> str:
    if authorization is None:
        raise TokenInvalid("there is no Authorization header")
    if authorization[: len(_SCHEME)].lower() != _SCHEME:
        raise TokenInvalid("the Authorization header is not of the form 'Bearer <token>'")
    return authorization[len(_SCHEME) :].strip()
