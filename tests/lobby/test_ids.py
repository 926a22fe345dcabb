import re

import pytest

from services.core.ids import MatchId, PlayerId
from services.lobby.ids import Ids, ids_of, invite_hash, is_invited
from tests.lobby.hosting import Site

ANN = PlayerId("ann")
IDS = Ids(bytes(32))


def test_the_same_request_names_the_same_table_and_any_other_another_one() -> None:
    names = [
        IDS.table(ANN, "create", "r1"),
        IDS.table(ANN, "create", "r2"),
        IDS.table(ANN, "quick", "r1"),
        IDS.table(PlayerId("bob"), "create", "r1"),
        IDS.table(PlayerId("annr"), "create", "1"),
        Ids(bytes([1]) * 32).table(ANN, "create", "r1"),
    ]
    assert len(set(names)) == len(names)
    assert IDS.table(ANN, "create", "r1") == names[0]


def test_an_id_can_stand_in_a_url_a_key_and_a_subject() -> None:
    assert all(re.fullmatch("[a-z2-7]{24}", IDS.table(ANN, "create", str(n))) for n in range(50))


def test_an_invite_code_fits_its_own_hash_only() -> None:
    code, other = IDS.invite(MatchId("a")), IDS.invite(MatchId("b"))
    assert is_invited(code, invite_hash(code))
    assert not is_invited(other, invite_hash(code))
    assert not is_invited("", "")
    assert not is_invited("é", invite_hash(code))


@pytest.mark.anyio
async def test_lobbies_share_one_secret_that_lasts_unless_an_operator_gives_one(site: Site) -> None:
    first, second = await ids_of(site.redis, ""), await ids_of(site.redis, "")
    assert first.table(ANN, "create", "r") == second.table(ANN, "create", "r")
    given = await ids_of(site.redis, "hush")
    assert given.table(ANN, "create", "r") == (await ids_of(site.redis, "hush")).table(ANN, "create", "r")
    assert given.table(ANN, "create", "r") != first.table(ANN, "create", "r")
