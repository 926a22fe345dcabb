"""Tables over gRPC on a real store: create, sit down, leave, start; and refusals, which store nothing."""

import hashlib
from collections.abc import Awaitable, Callable

import pytest
from waystation.lobby.v1 import lobby_pb2 as pb

from services.core import errors
from services.core.errors import DomainError
from services.core.events import bytes_of, text_of
from services.core.ids import MatchId
from tests.lobby.hosting import LIBRARY, OPEN_TABLES, Site, data_of, types_of

pytestmark = pytest.mark.anyio
CLOCK = b'{"kind":"per_turn","turn_ms":60000}'


async def test_a_new_table_has_its_host_on_the_first_seat_and_every_option(site: Site) -> None:
    ann = site.player("ann")
    table = (await ann.creates(clock=CLOCK)).table
    assert (table.title, table.host, table.version, table.status) == (
        "high_card",
        "ann",
        1,
        pb.TABLE_STATUS_OPEN,
    )
    assert [(taken.seat, taken.player) for taken in table.taken] == [(0, "ann")]
    assert (table.seats, table.seats_min, table.automatic, table.private) == (2, 2, True, False)
    assert table.clock == CLOCK
    assert table.options not in (b"", b"{}")
    assert (await ann.sees(table.match)).table == table


async def test_the_commitment_is_of_the_seed_and_the_seed_is_nowhere_else(site: Site) -> None:
    table = (await site.player("ann").creates()).table
    seed = await site.store.seed(MatchId(table.match))
    assert seed is not None
    assert len(seed) == 32
    assert table.commitment == text_of(hashlib.sha256(seed).digest())
    (event,) = await site.events(table.match)
    assert text_of(seed).encode() not in bytes(event.data)


async def test_no_two_tables_share_id_or_seed(site: Site) -> None:
    ann = site.player("ann")
    tables = [(await ann.creates()).table for _ in range(3)]
    assert len({table.match for table in tables}) == 3
    assert len({table.commitment for table in tables}) == 3


async def test_the_last_seat_seals_the_table_and_starts_the_match(site: Site) -> None:
    match = (await site.player("ann").creates(nonce="salt")).table.match
    taken = await site.player("bob").takes(match, nonce="pepper")
    assert (taken.seat, taken.table.status) == (1, pb.TABLE_STATUS_SEALED)
    events = await site.events(match)
    assert types_of(events) == ["table_created", "seat_taken", "table_sealed"]
    assert data_of(events[-1])["seats"] == [
        {"player": "ann", "nonce": "salt"},
        {"player": "bob", "nonce": "pepper"},
    ]
    assert await site.starts_of(match) == 1


async def test_a_seat_is_taken_by_number_or_else_the_first_free_one(site: Site) -> None:
    match = (await site.player("ann").creates(seats=4)).table.match
    assert (await site.player("bob").takes(match, seat=2)).seat == 2
    assert (await site.player("cara").takes(match)).seat == 1


async def test_who_leaves_frees_the_seat_and_may_come_back(site: Site) -> None:
    match = (await site.player("ann").creates(seats=3)).table.match
    bob = site.player("bob")
    await bob.takes(match)
    left = await bob.leaves(match)
    assert [taken.player for taken in left.table.taken] == ["ann"]
    assert (await bob.takes(match)).seat == 1


async def test_the_table_closes_when_the_host_leaves(site: Site) -> None:
    match = (await site.player("ann").creates()).table.match
    left = await site.player("ann").leaves(match)
    assert left.table.status == pb.TABLE_STATUS_CLOSED
    assert types_of(await site.events(match)) == ["table_created", "table_closed"]


async def test_the_host_starts_with_fewer_and_seats_move_up_in_order(site: Site) -> None:
    ann = site.player("ann")
    match = (await ann.creates(seats=4, manual_start=True)).table.match
    await site.player("dan").takes(match, seat=3)
    await site.player("bob").takes(match, seat=1)
    started = await ann.starts(match)
    assert started.table.status == pb.TABLE_STATUS_SEALED
    assert [(taken.seat, taken.player) for taken in started.table.taken] == [
        (0, "ann"),
        (1, "bob"),
        (2, "dan"),
    ]
    assert await site.starts_of(match) == 1


async def test_a_full_table_with_manual_start_waits_for_its_host(site: Site) -> None:
    match = (await site.player("ann").creates(manual_start=True)).table.match
    assert (await site.player("bob").takes(match)).table.status == pb.TABLE_STATUS_OPEN
    assert await site.starts_of(match) == 0
    assert (await site.player("ann").starts(match)).table.status == pb.TABLE_STATUS_SEALED


async def test_the_same_request_again_is_one_event_and_the_same_answer(site: Site) -> None:
    ann, bob = site.player("ann"), site.player("bob")
    created = [await ann.creates("c1", seats=3, private=True) for _ in range(3)]
    assert created[0] == created[1] == created[2]
    match, invite = created[0].table.match, created[0].invite
    taken = [await bob.takes(match, "t1", invite=invite) for _ in range(3)]
    assert taken[0] == taken[1] == taken[2]
    left = [await bob.leaves(match, "l1") for _ in range(3)]
    assert left[0] == left[1] == left[2]
    assert types_of(await site.events(match)) == ["table_created", "seat_taken", "seat_left"]


async def test_a_start_again_is_one_event(site: Site) -> None:
    ann = site.player("ann")
    match = (await ann.creates(manual_start=True)).table.match
    await site.player("bob").takes(match)
    assert await ann.starts(match, "s1") == await ann.starts(match, "s1")
    assert types_of(await site.events(match)) == ["table_created", "seat_taken", "table_sealed"]
    assert await site.starts_of(match) == 1


async def test_a_create_again_needs_no_title_that_is_up(site: Site) -> None:
    ann = site.player("ann")
    created = await ann.creates("c1")
    await site.redis.delete("directory:live")
    await site.directory.refresh()
    assert await ann.creates("c1") == created
    with pytest.raises(errors.TitleDown):
        await ann.creates("c2")


async def test_a_request_id_is_its_players_own(site: Site) -> None:
    first = (await site.player("ann").creates("c1")).table.match
    second = (await site.player("bob").creates("c1")).table.match
    assert first != second
    assert (await site.player("bob").takes(first, "c1")).seat == 1


@pytest.mark.parametrize(
    "other",
    [{"seats": 3}, {"private": True}, {"clock": CLOCK}, {"manual_start": True}, {"nonce": "x"}],
    ids=lambda other: next(iter(other)),
)
async def test_a_create_that_differs_is_a_reused_request_id(site: Site, other: dict[str, object]) -> None:
    ann = site.player("ann")
    match = (await ann.creates("c1")).table.match
    with pytest.raises(errors.RequestIdReused):
        await ann.creates("c1", **other)
    assert len(await site.events(match)) == 1


async def test_a_take_that_differs_is_a_reused_request_id(site: Site) -> None:
    match = (await site.player("ann").creates(seats=4)).table.match
    bob = site.player("bob")
    await bob.takes(match, "t1", seat=2)
    with pytest.raises(errors.RequestIdReused):
        await bob.takes(match, "t1", seat=3)


async def test_spaces_and_order_of_options_do_not_make_another_request(site: Site) -> None:
    ann = site.player("ann")
    assert await ann.creates("c1", options=b"{}") == await ann.creates("c1", options=b" { } ")


async def test_a_private_table_admits_who_holds_its_code_alone(site: Site) -> None:
    created = await site.player("ann").creates(private=True)
    match, bob = created.table.match, site.player("bob")
    for wrong in ("", "nonsense", created.invite[:-1], created.invite.lower() + "x"):
        assert not (await bob.sees(match, wrong)).invited
        with pytest.raises(errors.NotSeated):
            await bob.takes(match, invite=wrong)
    assert (await bob.sees(match, created.invite)).invited
    assert (await bob.takes(match, invite=created.invite)).seat == 1


async def test_an_invite_code_has_128_bits_and_is_not_stored(site: Site) -> None:
    created = await site.player("ann").creates(private=True)
    assert len(bytes_of(created.invite)) == 16
    (event,) = await site.events(created.table.match)
    assert created.invite.encode() not in bytes(event.data)
    assert (await site.player("ann").creates()).invite == ""


async def test_a_public_table_invites_nobody(site: Site) -> None:
    match = (await site.player("ann").creates()).table.match
    assert not (await site.player("bob").sees(match, "")).invited


Act = Callable[[Site, str], Awaitable[object]]


async def _open_table(site: Site) -> str:
    """Ann's, with bob on seat 2 of 3."""
    match = (await site.player("ann").creates(seats=3)).table.match
    await site.player("bob").takes(match, seat=2)
    return str(match)


@pytest.mark.parametrize(
    ("act", "refusal"),
    [
        (lambda site, match: site.player("bob").takes(match), errors.AlreadySeated),
        (lambda site, match: site.player("cara").takes(match, seat=2), errors.SeatTaken),
        (lambda site, match: site.player("cara").takes(match, seat=3), errors.BadRequest),
        (lambda site, match: site.player("cara").takes(match, seat=-1), errors.BadRequest),
        (lambda site, match: site.player("cara").leaves(match), errors.NotSeated),
        (lambda site, match: site.player("bob").starts(match), errors.NotAllowed),
        (lambda site, match: site.player("").takes(match), errors.BadRequest),
        (lambda site, match: site.player("x" * 201).takes(match), errors.BadRequest),
        (lambda site, match: site.player("cara").takes(match, "r" * 201), errors.BadRequest),
        (lambda site, match: site.player("cara").takes(match, nonce="n" * 65), errors.BadRequest),
        (lambda site, match: site.player("cara").takes("nowhere"), errors.NoSuchMatch),
        (lambda site, match: site.player("cara").takes("../" + match), errors.NoSuchMatch),
        (lambda site, match: site.player("cara").sees(""), errors.NoSuchMatch),
        (lambda site, match: site.player("cara").published("nowhere"), errors.NoSuchMatch),
        (lambda site, match: site.player("cara").published(match, -1), errors.BadRequest),
        (lambda site, match: site.player("ann").creates(title="chess"), errors.NoSuchTitle),
        (lambda site, match: site.player("ann").creates(title=""), errors.BadRequest),
        (lambda site, match: site.player("ann").creates(seats=60), errors.OptionInvalid),
        (lambda site, match: site.player("ann").creates(seats=-1), errors.BadRequest),
        (lambda site, match: site.player("ann").creates(options=b'{"no":1}'), errors.OptionInvalid),
        (lambda site, match: site.player("ann").creates(options=b"[]"), errors.BadRequest),
        (lambda site, match: site.player("ann").creates(options=b"{"), errors.BadRequest),
        (lambda site, match: site.player("ann").creates(options=b'{"a":"\xff"}'), errors.BadRequest),
        (lambda site, match: site.player("ann").creates(options=b"[" * 8000), errors.BadRequest),
        (lambda site, match: site.player("ann").creates(options=b" " * 9000), errors.TooLarge),
        (lambda site, match: site.player("ann").creates(clock=b'{"kind":"sand"}'), errors.BadRequest),
        (lambda site, match: site.player("ann").quick(title="chess"), errors.NoSuchTitle),
        (lambda site, match: site.player("ann").quick(options=b'{"no":1}'), errors.OptionInvalid),
    ],
)
async def test_a_refusal_is_typed_and_stores_nothing(
    site: Site, act: Act, refusal: type[DomainError]
) -> None:
    match = await _open_table(site)
    events, keys = await site.events(match), await site.keys()
    with pytest.raises(refusal):
        await act(site, match)
    assert await site.events(match) == events
    assert await site.keys() == keys


async def test_a_table_that_is_full_or_over_takes_nobody(site: Site) -> None:
    full = (await site.player("ann").creates(manual_start=True)).table.match
    await site.player("bob").takes(full)
    with pytest.raises(errors.TableFull):
        await site.player("cara").takes(full)
    await site.player("ann").starts(full)
    with pytest.raises(errors.TableFull):
        await site.player("cara").takes(full)
    with pytest.raises(errors.NotSeated):
        await site.player("cara").leaves(full)
    with pytest.raises(errors.TableClosed) as caught:
        await site.player("bob").leaves(full)
    assert caught.value.status == "started"


async def test_a_table_that_started_with_free_seats_takes_nobody_else(site: Site) -> None:
    match = (await site.player("ann").creates(seats=3, manual_start=True)).table.match
    await site.player("bob").takes(match)
    await site.player("ann").starts(match)
    with pytest.raises(errors.TableClosed) as caught:
        await site.player("cara").takes(match)
    assert caught.value.status == "started"


async def test_too_few_players_cannot_start(site: Site) -> None:
    match = (await site.player("ann").creates(seats=3, manual_start=True)).table.match
    with pytest.raises(errors.TableNotReady) as caught:
        await site.player("ann").starts(match)
    assert (caught.value.taken, caught.value.needed) == (1, 2)


async def test_a_number_of_players_that_the_title_forbids_is_refused_before_the_table_is_sealed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = site.player("ann")
    match = (await ann.creates(seats=4, manual_start=True)).table.match
    for name in ("bob", "cara"):
        await site.player(name).takes(match)

    def not_three(options: object, seats: int) -> None:
        if seats == 3:
            raise errors.OptionInvalid("seats", "not three")

    monkeypatch.setattr(LIBRARY.title, "check", not_three, raising=True)
    with pytest.raises(errors.OptionInvalid):
        await ann.starts(match)
    assert (await ann.sees(match)).table.status == pb.TABLE_STATUS_OPEN


async def test_one_table_more_than_a_player_may_host_is_refused_and_nothing_is_stored(site: Site) -> None:
    ann, bob = site.player("ann"), site.player("bob")
    tables = [(await ann.creates()).table.match for _ in range(OPEN_TABLES)]
    keys = await site.keys()
    with pytest.raises(errors.LimitReached) as refused:
        await ann.creates("one-too-many")
    assert (refused.value.limit, await site.keys()) == (OPEN_TABLES, keys)
    await bob.creates()  # others are not concerned
    await bob.takes(tables[0])
    await ann.leaves(tables[1])
    for _ in range(2):  # one has begun, one has closed
        await ann.creates()
    with pytest.raises(errors.LimitReached):
        await ann.creates("one-too-many")


async def test_a_create_again_is_answered_though_the_player_hosts_all_that_one_may(site: Site) -> None:
    ann = site.player("ann")
    made = [await ann.creates(f"table-{number}") for number in range(OPEN_TABLES)]
    assert await ann.creates("table-3") == made[3]


async def test_a_lobby_that_has_forgotten_its_tables_counts_them_all_the_same(site: Site) -> None:
    ann = site.player("ann")
    for _ in range(OPEN_TABLES):
        await ann.creates()
    await site.add_lobby()
    with pytest.raises(errors.LimitReached):
        await site.player("ann", lobby=1).creates()
