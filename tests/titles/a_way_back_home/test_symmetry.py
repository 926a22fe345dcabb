"""All colours are alike: turning a position by one path turns its legal moves, results and scores."""

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from services.titles.a_way_back_home.components import COLOUR_OF, COLOURS, SIDES, WILD
from services.titles.a_way_back_home.moves import (
    CrystalName,
    Crystals,
    Draw,
    Move,
    Options,
    Place,
    Placement,
    Take,
)
from services.titles.a_way_back_home.state import Cells, Counts, State
from tests.titles.a_way_back_home.positions import CHARACTERS, SIDE_A, TITLE, Dice, Given, playout


def turned_colour(colour: int) -> int:
    return WILD if colour == WILD else (colour + 1) % 6


def turned_name(name: CrystalName) -> CrystalName:
    return COLOURS[turned_colour(COLOUR_OF[name])]


def turned_counts(counts: Counts) -> Counts:
    return (counts[5], *counts[:5], counts[WILD])


def turned_cells(state: State, cells: Cells) -> Cells:
    paths = SIDES[state.side].paths
    after = bytearray(len(cells))
    for path, following in zip(paths, paths[1:] + paths[:1], strict=True):
        for space, image in zip(path, following, strict=True):
            after[image] = 1 + turned_colour(cells[space] - 1) if cells[space] else 0
    return bytes(after)


def turned(state: State) -> State:
    return replace(
        state,
        boards=tuple(turned_cells(state, cells) for cells in state.boards),
        bags=tuple(map(turned_counts, state.bags)),
        pool=turned_counts(state.pool),
        drawn=tuple(sorted(map(turned_colour, state.drawn))),
    )


def turned_move(move: Move) -> Move:
    match move:
        case Draw():
            return move
        case Take(crystals):
            return Take(Crystals(*(count or UNSET for count in turned_counts(crystals.counts))))
        case Place(placements, declare_end):
            steps = (Placement(turned_name(one.crystal), turned_name(one.path)) for one in placements)
            return Place(tuple(steps), declare_end)


def without_character(state: State) -> State:
    return replace(state, tile=None)


@pytest.mark.parametrize("options", [SIDE_A, CHARACTERS[0]])
def test_turning_a_match_by_one_path_gives_a_match(options: Options) -> None:
    for before, move, after in playout(options, 3, seed=7):
        state = without_character(before)
        drawn = [COLOURS[turned_colour(colour)] for colour in after.drawn]
        legal = {turned_move(one) for one in TITLE.legal_moves(state, state.turn)}
        assert set(TITLE.legal_moves(turned(state), state.turn)) == legal
        if turned_move(move) in legal:
            straight = TITLE.apply(state, state.turn, move, Given(*(COLOURS[c] for c in after.drawn)))
            assert TITLE.apply(turned(state), state.turn, turned_move(move), Given(*drawn)) == turned(
                straight
            )


@pytest.mark.parametrize("options", [SIDE_A, CHARACTERS[0]])
def test_scores_do_not_turn(options: Options) -> None:
    for _, _, after in playout(options, 4, seed=7):
        shown, other = TITLE.view(after, None), TITLE.view(turned(without_character(after)), None)
        tile = after.tile.where if after.tile else None
        straight = [player.score - (seat == tile) for seat, player in enumerate(shown.players)]
        assert [player.score for player in other.players] == straight


def test_six_turns_are_none() -> None:
    state = TITLE.setup(SIDE_A, 2, Dice(3))
    once_round = state
    for _ in range(6):
        once_round = turned(once_round)
    assert once_round == state
    assert turned(state) != state
