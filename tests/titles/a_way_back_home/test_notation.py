"""Notation: every legal move reads back; any other text is refused with one error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.errors import MoveUnreadable
from services.titles.a_way_back_home.moves import Crystals, Draw, Move, Options, Place, Placement, Take
from tests.titles.a_way_back_home.positions import CHARACTERS, SIDE_A, TITLE, playout


@pytest.mark.parametrize("options", [SIDE_A, *CHARACTERS])
def test_every_legal_move_reads_back_from_its_notation(options: Options) -> None:
    for state, _, _ in playout(options, 2, seed=4):
        moves = list(TITLE.legal_moves(state, state.turn))
        lines = [TITLE.notation(move) for move in moves]
        assert [TITLE.parse(line) for line in lines] == moves
        assert len(set(lines)) == len(lines)


@pytest.mark.parametrize(
    ("line", "move"),
    [
        ("draw", Draw()),
        ("take g3", Take(Crystals(green=3))),
        ("take g2 w1", Take(Crystals(green=2, wild=1))),
        ("take u1 k2 o3 b4", Take(Crystals(purple=1, black=2, orange=3, blue=4))),
        ("place g", Place((Placement("green", "green"),))),
        ("place w>b b", Place((Placement("wild", "blue"), Placement("blue", "blue")))),
        ("place p end", Place((Placement("pink", "pink"),), declare_end=True)),
        ("place -", Place(())),
        ("place - end", Place((), declare_end=True)),
        ("place b>g", Place((Placement("blue", "green"),))),
        ("place g g g", Place((Placement("green", "green"),) * 3)),
        ("take -", Take(Crystals())),
    ],
)
def test_notation_by_example(line: str, move: Move) -> None:
    assert TITLE.notation(move) == line
    assert TITLE.parse(line) == move


@pytest.mark.parametrize(
    "line",
    [
        "", " ", "draw ", "Draw", "draw 3", "pass", "\ud800",
        "take", "take g", "take g0", "take g03", "take g21", "take w1 g2", "take g1 g1", "take x1",
        "take g1  w1", "take g٣", "take g" + "9" * 5000,
        "place", "place w", "place g>w", "place g>g", "place end", "place end g", "place g end end",
        "place - g", "place g g g g", "place g\n", "place " * 1000,
    ],
)  # fmt: skip
def test_what_is_no_notation_is_unreadable(line: str) -> None:
    with pytest.raises(MoveUnreadable) as refusal:
        TITLE.parse(line)
    assert len(str(refusal.value)) < 300


WORDS = st.lists(st.sampled_from(["draw", "take", "place", "end", "-", "g1", "w20", "w>b", "g", ">", ""]))


@given(st.text() | WORDS.map(" ".join))
def test_any_text_is_notation_of_a_move_or_unreadable(text: str) -> None:
    try:
        move = TITLE.parse(text)
    except MoveUnreadable:
        return
    assert TITLE.notation(move) == text
