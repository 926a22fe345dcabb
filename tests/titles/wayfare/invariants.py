"""The invariants of Wayfare for the long run: cheap ones at every turn, the plain rules now and then."""

from collections.abc import Sequence
from random import Random

from services.titles.wayfare.moves import GuideMove
from services.titles.wayfare.rules import can_move, legal_moves
from services.titles.wayfare.state import State
from tests.titles.found import Ply
from tests.titles.wayfare.plain_rules import acceptable
from tests.titles.wayfare.positions import pieces_of
from tests.titles.wayfare.test_invariants import pieces, potential, totals

PLAIN = 1 / 8  # of the matches, at one position: some 15 ms each
START_POTENTIAL = {6: 384, 8: 1062, 10: 2256}


def check(plies: Sequence[Ply], rng: Random) -> None:
    """Fails unless all of a match keeps to the rules."""
    for ply in plies:
        _check_board(ply.after)
        _check_move(ply)
        _check_turn(ply)
    _check_length(plies)
    if rng.random() < PLAIN:
        _check_by_plain_rules(rng.choice(plies).before)


def _check_board(state: State) -> None:
    """One piece a point at most, and all on the board."""
    assert state.occupied & ~state.geometry.points == 0
    assert state.occupied.bit_count() == pieces(state, 0) + pieces(state, 1)


def _check_move(ply: Ply) -> None:
    """A guide move converts one enemy guide; any other takes at most one piece, of the kind followed."""
    before, seat, move, after = ply.before, ply.seat, ply.move, ply.after
    guides, adventurers = totals(before)
    assert all(after.guides[n].bit_count() <= before.guides[n].bit_count() for n in (0, 1))
    assert _is_inward(ply)
    if isinstance(move, GuideMove):
        assert totals(after) == (guides - 1, adventurers + 1)
        assert pieces(after, seat) == pieces(before, seat) + 1
        assert pieces(after, 1 - seat) == pieces(before, 1 - seat) - 1
        return
    taken = before.occupant(move.to)
    assert taken in (None, (1 - seat, move.ref))
    assert totals(after) == (
        guides - (taken == (1 - seat, "guide")),
        adventurers - (taken == (1 - seat, "adventurer")),
    )
    assert pieces(after, seat) == pieces(before, seat)


def _is_inward(ply: Ply) -> bool:
    """The piece moved has come to a lower potential; no other piece has moved, so the sum falls as well."""
    board = ply.before.geometry
    return board.potential[board.bit_of[ply.move.to]] < board.potential[board.bit_of[ply.move.from_]]


def _check_turn(ply: Ply) -> None:
    """Seats alternate, but for those that cannot move."""
    after = ply.after
    assert after.ply == ply.before.ply + 1
    assert after.passed == (after.turn == ply.seat)
    if after.turn != 1 - ply.seat:
        assert not can_move(after, 1 - ply.seat)


def _check_length(plies: Sequence[Ply]) -> None:
    first, last, size = plies[0].before, plies[-1].after, plies[0].before.size
    guide_moves = sum(isinstance(ply.move, GuideMove) for ply in plies)
    captured_guides = totals(first)[0] - totals(last)[0] - guide_moves
    assert captured_guides >= 0
    assert guide_moves + captured_guides <= 6 * (2 * size - 5)
    assert potential(first) == START_POTENTIAL[size]
    assert len(plies) <= START_POTENTIAL[size] - potential(last)
    assert not can_move(last, 0)
    assert not can_move(last, 1)


def _check_by_plain_rules(state: State) -> None:
    """From where to where one may move is what the plain rules find."""
    assert state.turn is not None
    found = acceptable(pieces_of(state), state.size, "WB"[state.turn])
    listed = legal_moves(state, state.turn)
    assert {(move.from_, move.to) for move in listed} == {(move.from_, move.to) for move in found}
