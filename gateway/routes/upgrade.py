"""The paths of WebSockets for who comes without a handshake: they say what they are for."""

from http import HTTPStatus

from litestar import get
from litestar.exceptions import HTTPException


@get(["/v1/live", "/v1/matches/{match:str}/live"], include_in_schema=False)
async def require_upgrade() -> None:
    """Browsers, and clients that follow links, ask like this."""
    raise HTTPException(
        "only a WebSocket handshake is answered here; events over plain HTTP are at live.sse of a match",
        status_code=HTTPStatus.UPGRADE_REQUIRED,
        headers={"Upgrade": "websocket", "Connection": "Upgrade"},
    )
