"""What holds at every position of random matches, on both sides and with every character."""

from collections.abc import Iterator
from itertools import pairwise

import pytest

from services.titles.a_way_back_home.components import PATHS, SIDES, WILD
from services.titles.a_way_back_home.moves import Draw, Move, Place, Take
from services.titles.a_way_back_home.state import IN_BOX, IN_POOL, State
from tests.titles.a_way_back_home.positions import CHARACTERS, SIDE_A, TITLE, playout

Played = list[tuple[State, Move, State]]

MATCHES = [
    (options, seats, seed, declares)
    for options in (SIDE_A, *CHARACTERS)
    for seats in (2, 3, 4)
    for seed, declares in ((1, True), (2, True), (3, False))
]


@pytest.fixture(scope="module")
def matches() -> list[Played]:
    return [list(playout(*match)) for match in MATCHES]


def every_move(matches: list[Played]) -> Iterator[tuple[State, Move, State]]:
    return (step for played in matches for step in played)


def test_crystals_are_conserved(matches: list[Played]) -> None:
    for _, _, state in every_move(matches):
        cells = b"".join(state.boards)
        found = tuple(
            cells.count(colour + 1) + state.drawn.count(colour) + state.pool[colour]
            + sum(bag[colour] for bag in state.bags)
            for colour in range(7)
        )  # fmt: skip
        assert found == (5 * state.players,) * 6 + (2 * state.players,)


def test_boards_never_lose_or_change_a_crystal(matches: list[Played]) -> None:
    for before, _, after in every_move(matches):
        for old, new in zip(before.boards, after.boards, strict=True):
            assert len(new) == 36
            assert all(was in (0, now) for was, now in zip(old, new, strict=True))


def test_a_coloured_crystal_lies_only_on_its_own_path(matches: list[Played]) -> None:
    for played in matches:
        end = played[-1][2]
        paths = SIDES[end.side].paths
        for board in end.boards:
            for space, cell in enumerate(board):
                assert cell in (0, WILD + 1) or space in paths[cell - 1]


def test_the_unshared_spaces_of_a_path_are_lit_in_order(matches: list[Played]) -> None:
    for _, _, state in every_move(matches):
        paths = SIDES[state.side].paths
        every = [space for path in paths for space in path]
        for board in state.boards:
            for path in paths:
                lit = [board[space] > 0 for space in path if every.count(space) == 1]
                assert lit == sorted(lit, reverse=True)


def test_a_draw_turn_moves_three_crystals_from_the_bag_to_board_and_pool(matches: list[Played]) -> None:
    for played in matches:
        for (before, move, drawn), (_, placing, after) in pairwise(played):
            if not isinstance(move, Draw):
                continue
            seat = before.turn
            assert isinstance(placing, Place)
            assert sum(before.bags[seat]) >= 3
            assert sum(drawn.bags[seat]) == sum(after.bags[seat]) == sum(before.bags[seat]) - 3
            assert drawn.turn == seat
            placed = before.boards[seat].count(0) - after.boards[seat].count(0)
            assert placed == len(placing.placements) <= 2
            assert sum(after.pool) - sum(before.pool) == 3 - placed


def test_nothing_is_placed_only_when_all_paths_that_could_take_it_are_at_their_goals(
    matches: list[Played],
) -> None:
    seen = 0
    for before, move, _ in every_move(matches):
        if isinstance(move, Place) and not move.placements:
            seen += 1
            board, paths = before.boards[before.turn], SIDES[before.side].paths
            open_paths = {path for path in range(6) if not all(board[space] for space in paths[path])}
            assert not open_paths & set(before.drawn)
            assert WILD not in before.drawn or not open_paths
    assert seen


def test_a_take_moves_the_same_crystals_from_pool_to_bag(matches: list[Played]) -> None:
    for before, move, after in every_move(matches):
        if isinstance(move, Take):
            gone = tuple(a - b for a, b in zip(before.pool, after.pool, strict=True))
            bags = zip(after.bags[before.turn], before.bags[before.turn], strict=True)
            assert gone == tuple(a - b for a, b in bags) == move.crystals.counts
            assert sum(gone) > 0
            assert after.boards == before.boards


def test_no_count_is_ever_negative(matches: list[Played]) -> None:
    for _, _, state in every_move(matches):
        assert min(min(bag) for bag in state.bags) >= 0
        assert min(state.pool) >= 0


def test_the_tile_goes_from_the_pool_to_one_player_or_the_box_and_never_back(matches: list[Played]) -> None:
    ways = set()
    for before, _, after in every_move(matches):
        if before.tile and after.tile:
            assert before.tile.character == after.tile.character
            if before.tile != after.tile:
                ways.add((before.tile.where >= 0, after.tile.where))
                assert before.tile.where != IN_BOX
                assert after.tile.where in (IN_BOX, before.turn)
                assert after.tile.where != IN_POOL
    assert {(False, IN_BOX), (True, IN_BOX), (False, 0), (False, 1)} <= ways


def test_the_tile_lies_with_a_seat_exactly_while_its_front_is_on_the_building(matches: list[Played]) -> None:
    for _, _, state in every_move(matches):
        if state.tile is None:
            continue
        shown = TITLE.view(state, None)
        at_building = [
            seat
            for seat, player in enumerate(shown.players)
            if player.fronts[PATHS[state.tile.path]] == shown.layout.building
        ]
        if state.tile.where == IN_POOL:
            assert not at_building
        elif state.tile.where != IN_BOX:
            assert state.tile.where in at_building


def test_the_end_is_declared_once_and_followed_by_one_turn_of_each_other_player(
    matches: list[Played],
) -> None:
    declared = 0
    for played in matches:
        for before, move, after in played:
            if before.declared_by is not None:
                assert after.declared_by == before.declared_by
            elif after.declared_by is not None:
                declared += 1
                assert isinstance(move, Place)
                assert move.declare_end
                assert sum(after.bags[before.turn]) == 0
                assert played[-1][2].turns == before.turns + after.players
                assert played[-1][2].ending == "end_declared"
    assert declared > len(matches) // 2


def test_nobody_can_declare_before_the_own_eleventh_turn(matches: list[Played]) -> None:
    """29 crystals are ten draws less one, so at least one take is needed on the way to an empty bag."""
    for before, _, after in every_move(matches):
        if after.declared_by is not None and before.declared_by is None:
            assert TITLE.view(after, None).players[before.turn].turns_taken >= 11


def test_a_seat_passes_exactly_when_it_can_neither_draw_nor_take(matches: list[Played]) -> None:
    seen = 0
    for _, _, after in every_move(matches):
        passed = TITLE.view(after, None).passed
        if passed and not after.drawn:
            seen += 1
            assert sum(after.pool) == 0
            assert all(sum(after.bags[seat]) < 3 for seat in passed)
    assert seen


def test_whoever_is_to_act_has_a_legal_move(matches: list[Played]) -> None:
    for before, _, after in every_move(matches):
        assert before.ending is None
        for seat in TITLE.to_act(after):
            assert next(iter(TITLE.legal_moves(after, seat)), None) is not None


def test_no_match_lasts_longer_than_a_hundred_turns_each(matches: list[Played]) -> None:
    for played in matches:
        end = played[-1][2]
        assert end.ending is not None
        assert end.turns <= 100 * end.players
