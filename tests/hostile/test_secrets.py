"""What must never be written down: seeds, tokens, recovery secrets and invite codes, in any service's log."""

import base64
import random

import pytest

from services.core.events import text_of
from services.core.ids import MatchId
from tests.e2e.playing import History, play_http
from tests.e2e.site import Player, gathered
from tests.hostile.conftest import logs

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def found(secret: bytes, logs_: dict[str, str]) -> list[str]:
    """The logs that hold `secret` in any of its spellings."""
    spellings = {secret.hex(), text_of(secret), base64.b64encode(secret).decode(), repr(secret)[2:-1]}
    if secret.isascii():
        spellings.add(secret.decode())
    return [name for name, text in logs_.items() if any(spelling in text for spelling in spellings)]


async def test_no_secret_of_a_whole_match_is_in_any_log(system, site, store):
    made = [await site.ask("POST", "/v1/players") for _ in range(2)]
    players = [Player(site, each["player"], each["token"]) for each in made]
    match = await gathered(players, "make_way")
    private = await players[0].create("make_way", seats=2, visibility="private")
    await players[1].join(private["match"], invite=private["invite"])
    await play_http(players, match, History(), random.Random(3))
    secrets = [each[name].encode() for each in made for name in ("token", "recovery")]
    secrets.append(private["invite"].encode())
    for id_ in (match, private["match"]):
        seed = await store.seed(MatchId(id_))
        assert seed is not None
        secrets.append(seed)
    canary = system.data / "logs" / "canary.log"
    for secret in secrets:
        canary.write_text(f'{{"event": "leak", "what": "{text_of(secret)}"}}\n')
        assert found(secret, logs(system)) == ["canary.log"]
        canary.unlink()
