"""The canonical encoding: documented bytes, equal exactly for equal positions, the same in every replay."""

from msgspec.structs import replace

from services.core.chance import Recorded, Rolling
from services.titles.a_way_back_home.moves import Options
from services.titles.a_way_back_home.state import IN_BOX, State, Tile
from tests.titles.a_way_back_home.positions import (
    CHARACTERS,
    SIDE_A,
    TITLE,
    counts,
    filled,
    playout,
    position,
)

KEY = bytes(32)


def test_the_encoding_is_the_documented_one() -> None:
    state = position(
        filled(green=2), side="B", tile=Tile(3, 1), drawn="wild blue green", pool=counts(green=2, wild=1),
        bags=[0, 4], start=1, turns=257, passes=1, declared_by=1,
    )  # fmt: skip
    assert TITLE.canonical(state).hex(" ", 1) == " ".join(
        [
            "01 02 01 01 01 01 02 04 03",
            "02 00 00 00 00 00 01",
            "03 00 05 06",
            "00 00 00 00 00 00 00 01 01" + " 00" * 34,
            "00 00 00 00 00 04 00" + " 00" * 36,
        ]
    )


def test_every_part_of_a_position_changes_the_encoding() -> None:
    state = position(side="B", tile=Tile(0), pool=counts(green=1))
    others = [
        replace(state, side="A"),
        replace(state, tile=None),
        replace(state, tile=Tile(0, IN_BOX)),
        replace(state, tile=Tile(1)),
        replace(state, pool=counts(pink=1)),
        replace(state, start=1),
        replace(state, turns=1),
        replace(state, passes=1),
        replace(state, declared_by=0),
        replace(state, drawn=(0, 0, 0)),
        replace(state, bags=(counts(green=9), state.bags[1])),
        replace(state, boards=(filled(green=1), state.boards[1])),
    ]
    assert len({TITLE.canonical(one) for one in [state, *others]}) == 1 + len(others)


def test_positions_of_a_match_are_all_different_and_so_are_their_bytes() -> None:
    for options in (SIDE_A, CHARACTERS[2]):
        states = [after for _, _, after in playout(options, 4, seed=1)]
        assert len({TITLE.canonical(state) for state in states}) == len(states)
        assert {len(TITLE.canonical(state)) for state in states} == {20 + 4 * 43}


def test_equal_positions_are_equal_in_order_of_drawing() -> None:
    assert position(drawn="wild green blue") == position(drawn="blue wild green")


def test_recorded_luck_replays_every_position() -> None:
    """Rolling luck as a match rolls it, then its record played back in a second pass."""
    options = Options(side="B")
    luck = Rolling(KEY, 0)
    state = TITLE.setup(options, 3, luck)
    rolled = len(luck.outcomes)
    setup_luck, history = Recorded(luck.outcomes), []
    while TITLE.to_act(state):
        moves = list(TITLE.legal_moves(state, state.turn))
        move, luck = moves[len(history) % len(moves)], Rolling(KEY, rolled)
        state = TITLE.apply(state, state.turn, move, luck)
        rolled += len(luck.outcomes)
        history.append((move, luck.outcomes, TITLE.canonical(state)))
    again: State = TITLE.setup(options, 3, setup_luck)
    assert setup_luck.spent
    for move, outcomes, expected in history:
        recorded = Recorded(outcomes)
        again = TITLE.apply(again, again.turn, move, recorded)
        assert recorded.spent
        assert TITLE.canonical(again) == expected
    assert TITLE.outcome(again) == TITLE.outcome(state)
