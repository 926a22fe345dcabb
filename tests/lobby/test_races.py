"""Many at once, over one lobby and two, on one store."""

import pytest
from waystation.lobby.v1 import lobby_pb2 as pb

from services.core import errors
from services.core.errors import DomainError
from services.kit.store import Append
from services.lobby.desk import TRIES_MAX
from tests.lobby.hosting import Site, all_of, data_of, types_of

pytestmark = pytest.mark.anyio


async def test_of_twenty_who_race_for_two_seats_two_sit_and_the_match_starts_once(two_lobbies: Site) -> None:
    site = two_lobbies
    match = (await site.player("host").creates(seats=3)).table.match
    racers = [site.player(f"p{n}", lobby=n % 2) for n in range(20)]
    answers = await all_of(*(racer.takes(match) for racer in racers))
    seated = [answer for answer in answers if isinstance(answer, pb.TakeSeatResponse)]
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert sorted(answer.seat for answer in seated) == [1, 2]
    assert len(refused) == 18
    assert all(isinstance(refusal, errors.TableFull | errors.TableClosed) for refusal in refused)
    events = await site.events(match)
    assert types_of(events) == ["table_created", "seat_taken", "seat_taken", "table_sealed"]
    assert [event.version for event in events] == [1, 2, 3, 4]
    assert len(data_of(events[-1])["seats"]) == 3
    assert await site.starts_of(match) == 1


async def test_ten_who_race_for_one_seat_by_number_leave_nine_refused(two_lobbies: Site) -> None:
    site = two_lobbies
    match = (await site.player("host").creates(seats=4)).table.match
    answers = await all_of(*(site.player(f"p{n}", n % 2).takes(match, seat=2) for n in range(10)))
    assert sum(isinstance(answer, errors.SeatTaken) for answer in answers) == 9
    assert types_of(await site.events(match)) == ["table_created", "seat_taken"]


async def test_the_same_create_ten_times_at_once_is_one_table(two_lobbies: Site) -> None:
    site = two_lobbies
    answers = await all_of(*(site.player("ann", n % 2).creates("c1", private=True) for n in range(10)))
    assert all(answer == answers[0] for answer in answers)
    assert types_of(await site.events(answers[0].table.match)) == ["table_created"]


async def test_the_same_take_ten_times_at_once_is_one_seat(two_lobbies: Site) -> None:
    site = two_lobbies
    match = (await site.player("ann").creates(seats=4)).table.match
    answers = await all_of(*(site.player("bob", n % 2).takes(match, "t1") for n in range(10)))
    assert {answer.seat for answer in answers} == {1}
    assert types_of(await site.events(match)) == ["table_created", "seat_taken"]


async def test_one_player_who_asks_twice_at_once_gets_one_seat(two_lobbies: Site) -> None:
    site = two_lobbies
    match = (await site.player("ann").creates(seats=4)).table.match
    answers = await all_of(*(site.player("bob", n % 2).takes(match, f"t{n}") for n in range(6)))
    assert sum(isinstance(answer, errors.AlreadySeated) for answer in answers) == 5


async def test_two_copies_of_one_id_with_different_wishes_cannot_both_be_right(two_lobbies: Site) -> None:
    site = two_lobbies
    answers = await all_of(*(site.player("ann", n).creates("c1", seats=2 + n) for n in range(2)))
    assert sum(isinstance(answer, errors.RequestIdReused) for answer in answers) == 1


async def test_who_loses_every_race_is_asked_to_come_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = (await site.player("ann").creates(seats=4)).table.match
    tried = 0

    async def is_slower(append: Append) -> None:
        nonlocal tried
        tried += 1
        assert tried <= TRIES_MAX
        raise errors.VersionConflict(append.expected_version, append.expected_version + 1)

    monkeypatch.setattr(site.lobbies[0].desk._store, "append", is_slower)
    with pytest.raises(errors.Overloaded):
        await site.player("bob").takes(match)
    assert tried == TRIES_MAX
    assert types_of(await site.events(match)) == ["table_created"]


async def test_a_host_who_leaves_while_others_sit_down_leaves_no_half_table(two_lobbies: Site) -> None:
    site = two_lobbies
    for n in range(10):
        match = (await site.player("ann").creates()).table.match
        answers = await all_of(site.player("bob", n % 2).takes(match), site.player("ann").leaves(match))
        refused = [answer for answer in answers if isinstance(answer, DomainError)]
        last = types_of(await site.events(match))[-1]
        assert last in ("table_sealed", "table_closed")
        assert await site.starts_of(match) == (1 if last == "table_sealed" else 0)
        assert len(refused) <= 1
