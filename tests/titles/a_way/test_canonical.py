"""The canonical encoding: the same bytes exactly for positions that play on the same way."""

from struct import unpack

from msgspec.structs import replace

from services.titles.a_way.star_map import StarMap
from services.titles.a_way.state import Notice, State
from tests.titles.a_way.positions import TITLE, numbers, playout, position, sky

STATE = position("S9.nw", hand="E1P1 A1-hyperdrive", hand_1="E1P3", draw="E2P2 E2P4", discard="E1P7 E1P9")


def test_the_encoding_is_laid_out_as_documented() -> None:
    data = TITLE.canonical(STATE)
    assert unpack(">BBBBHBBB", data[:9]) == (1, 2, 0, 0, 1, 0, 0, 255)
    lists = [
        (),
        numbers("E1P1 A1-hyperdrive"),
        numbers("E1P3"),
        numbers("E2P2 E2P4"),
        numbers("E1P7 E1P9"),
        (),
        (),
    ]
    body = bytes(STATE.ships) + b"".join(bytes((len(part), *part)) for part in lists)
    assert data[9 : 9 + len(body)] == body
    rest = data[9 + len(body) :]
    assert unpack(">BhhBhhBhhBhh", rest[:20]) == (0, 0, 0, 1, 5, 0, 0, 0, 0, 1, -1, 0)
    assert rest[20] == 5
    assert unpack(">BBhh", rest[21:27]) == (numbers("S1")[0], 0, 0, 0)
    assert len(rest) == 21 + 5 * 6


def test_every_part_of_a_position_changes_the_bytes() -> None:
    others = [
        replace(STATE, start=1),
        replace(STATE, turn=1),
        replace(STATE, round=300),
        replace(STATE, phase="playing"),
        replace(STATE, faction=1),
        replace(STATE, pending=40),
        replace(STATE, ships=STATE.ships[::-1]),
        replace(STATE, arrivals=(0,)),
        replace(STATE, hands=STATE.hands[::-1]),
        replace(STATE, draw_pile=STATE.draw_pile[::-1]),
        replace(STATE, discard=STATE.discard[::-1]),
        replace(STATE, resolving=(40,)),
        replace(STATE, removed=(1,)),
        replace(STATE, sky=sky("S3 S1 S5 S7 S9")),
        replace(STATE, sky=sky(E1P5=(0, 1, 0))),
        replace(STATE, sky=sky(E1P5=(0, 1, 1))),
        replace(STATE, sky=StarMap(STATE.sky.cards, (None, (6, 0), None, (-1, 0)))),
    ]
    encoded = {TITLE.canonical(state) for state in (STATE, *others)}
    assert len(encoded) == len(others) + 1


def test_notices_and_what_a_map_has_worked_out_do_not_count() -> None:
    told = replace(STATE, notices=(Notice("no_flight", 0),))
    assert TITLE.canonical(told) == TITLE.canonical(STATE)
    fresh = position("S9.nw", hand="A1-hyperdrive E1P1", hand_1="E1P3", draw="E2P2 E2P4", discard="E1P7 E1P9")
    TITLE.view(STATE, 0)
    assert fresh == STATE
    assert TITLE.canonical(fresh) == TITLE.canonical(STATE)


def test_different_positions_of_a_match_have_different_bytes() -> None:
    seen: dict[bytes, State] = {}
    for _, _, state in playout(4, seed=11):
        bare = replace(state, notices=())
        assert seen.setdefault(TITLE.canonical(state), bare) == bare


def test_cards_laid_in_another_order_give_the_same_map() -> None:
    first = position(hand="E1P1 E1P3", discard="E2P2").sky
    one = first.with_card(9, (0, 1), 0).with_card(13, (1, 1), 2)
    other = first.with_card(13, (1, 1), 2).with_card(9, (0, 1), 0)
    assert one == other
