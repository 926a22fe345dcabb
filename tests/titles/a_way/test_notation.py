"""Notation: every legal move reads back; any other text is refused with one error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.errors import MoveUnreadable
from services.titles.a_way.moves import (
    Discard,
    EndPlay,
    Move,
    MoveShip,
    Params,
    PlayCard,
    ResolveCard,
    Skip,
    Stop,
)
from tests.titles.a_way.positions import TITLE, playout

STATION = Stop(card="S9", station="se")


@pytest.mark.parametrize("seats", [2, 4])
def test_every_legal_move_reads_back_from_its_notation(seats: int) -> None:
    for state, _, _ in list(playout(seats, seed=4))[::4]:
        moves = list(TITLE.legal_moves(state, state.turn))
        lines = [TITLE.notation(move) for move in moves]
        assert [TITLE.parse(line) for line in lines] == moves
        assert len(set(lines)) == len(lines)


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("fly S9.se", MoveShip(STATION)),
        ("fly W", MoveShip(Stop(base="W"))),
        ("play E1P5 3,-1 r2", PlayCard("E1P5", Params(cell=(3, -1), rot=2))),
        ("play A1-hyperdrive S9.se", PlayCard("A1-hyperdrive", Params(dest=STATION))),
        ("play A1-solar_winds W", PlayCard("A1-solar_winds", Params(dest=Stop(base="W")))),
        ("play A2-pirate_attack 1 S9.se", PlayCard("A2-pirate_attack", Params(seat=1, dest=STATION))),
        ("play A3-magnetic_field S5 r1", PlayCard("A3-magnetic_field", Params(card="S5", rot=1))),
        (
            "play A4-solar_tornado E2P10 0,2 r0",
            PlayCard("A4-solar_tornado", Params(card="E2P10", cell=(0, 2), rot=0)),
        ),
        ("play A2-black_hole col -1", PlayCard("A2-black_hole", Params(axis="col", index=-1))),
        ("play A1-unknown_fate", PlayCard("A1-unknown_fate", Params())),
        ("resolve 3,-1 r2", ResolveCard(Params(cell=(3, -1), rot=2))),
        ("resolve row 0", ResolveCard(Params(axis="row", index=0))),
        ("discard E1P1 A3-scrap_yard", Discard(("E1P1", "A3-scrap_yard"))),
        ("end", EndPlay()),
        ("skip", Skip()),
    ],
)
def test_notation_by_example(line: str, move: Move) -> None:
    assert TITLE.notation(move) == line
    assert TITLE.parse(line) == move


@pytest.mark.parametrize(
    "line",
    [
        "",
        " ",
        "fly",
        "fly X",
        "fly S9",
        "fly S9.zz",
        "fly S9.se ",
        "fly S9.se\n",
        "Fly S9.se",
        "fly S10.se",
        "play",
        "play S1 0,1 r0",
        "play E1P5 3,-1",
        "play E1P5 03,1 r0",
        "play E1P5 -0,1 r0",
        "play E1P5 99999,1 r0",
        "play E1P5 3,1 r4",
        "play E1P5 r2 3,1",
        "play E1P5  3,1 r2",
        "play A1-hyperdrive S9.se 1,1 r0",
        "play A2-pirate_attack 4 S9.se",
        "play A2-black_hole diagonal 1",
        "play A2-black_hole col " + "9" * 5000,
        "resolve 1",
        "discard",
        "discard E1P1 E1P3 E1P5 E1P7",
        "discard S1",
        "end_play",
        "skip skip",
        "fly S\u0669.se",
        "\ud800",
        "play " * 1000,
    ],
)
def test_what_is_no_notation_is_unreadable(line: str) -> None:
    with pytest.raises(MoveUnreadable) as refusal:
        TITLE.parse(line)
    assert len(str(refusal.value)) < 300


VERBS = ["fly", "play", "resolve", "discard", "end", "skip"]
PARTS = ["E1P5", "A1-hyperdrive", "S9.se", "S5", "W", "1", "3,-1", "r2", "row 1", ""]
WORDS = st.lists(st.sampled_from(VERBS + PARTS))


@given(st.text() | WORDS.map(" ".join))
def test_any_text_is_notation_of_a_move_or_unreadable(text: str) -> None:
    try:
        move = TITLE.parse(text)
    except MoveUnreadable:
        return
    assert TITLE.notation(move) == text
