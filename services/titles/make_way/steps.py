"""One piece's step and the push it causes, checked rule by rule: every refusal names the rule it breaks."""

from typing import assert_never

from services.core.errors import MoveIllegal
from services.titles.make_way.components import INDEX_OF, LANES, RANKS, SYMBOLS, TILES, Board
from services.titles.make_way.moves import Advance, Enter, Shift, Step, Tile
from services.titles.make_way.state import State

Boards = tuple[Board, Board]  # the mover's, the opponent's

_AHEAD = (1, -1)  # by seat, in ranks
_LAST_RANK = (RANKS, 1)  # by seat
_FIRST_RANK = (1, RANKS)


def stepped(state: State, seat: int, card: int, step: Step) -> tuple[Board, Board]:
    """The boards, by seat, after `step` with `card`. Raises MoveIllegal."""
    boards = state.boards if seat == 0 else state.boards[::-1]
    match step:
        case Advance():
            own, other = _advanced(state, boards, seat, card, step)
        case Shift():
            own, other = _shifted(state, boards, card, step)
        case Enter():
            own, other = _entered(state, boards, seat, card, step)
        case _:
            assert_never(step)
    return (own, other) if seat == 0 else (other, own)


def _advanced(state: State, boards: Boards, seat: int, card: int, step: Advance) -> Boards:
    origin = _own_piece(boards, step.origin)
    lane, rank = step.origin
    _check_lane(state, card, lane)
    if rank == _LAST_RANK[seat]:
        raise MoveIllegal("advance-on-board", f"no tile lies ahead of {_name(step.origin)}")
    own, other = _pushed_ahead(boards, seat, origin + _AHEAD[seat])
    return own ^ 1 << origin, other


def _shifted(state: State, boards: Boards, card: int, step: Shift) -> Boards:
    origin = _own_piece(boards, step.origin)
    if step.dir not in (-1, 1):
        raise MoveIllegal("shift-one-lane", "dir is neither -1 nor 1")
    turn = RANKS * step.dir
    target = (origin + turn) % (RANKS * LANES)
    _check_lane(state, card, target // RANKS)
    own, other = boards
    onto = 1 << target
    if (own | other) & onto:
        beyond = (target + turn) % (RANKS * LANES)
        _check_free(boards, target, beyond)
        if own & onto:
            own ^= onto | 1 << beyond
        else:
            other ^= onto | 1 << beyond
    return own ^ 1 << origin | onto, other


def _entered(state: State, boards: Boards, seat: int, card: int, step: Enter) -> Boards:
    target = _tile(step.to)
    if not state.supply[seat]:
        raise MoveIllegal("enter-from-supply", "your supply is empty")
    lane, rank = step.to
    _check_lane(state, card, lane)
    if rank != _FIRST_RANK[seat]:
        ahead = target + _AHEAD[seat]
        if rank == _LAST_RANK[seat] or not boards[0] >> ahead & 1:
            raise MoveIllegal(
                "enter-at-start-or-behind",
                f"{_name(step.to)} is neither on your start row nor right behind a piece of yours",
            )
    return _pushed_ahead(boards, seat, target)


def _pushed_ahead(boards: Boards, seat: int, target: int) -> Boards:
    """The boards once a piece has come onto `target` from behind; an opponent there is pushed on."""
    own, other = boards
    onto = 1 << target
    if own & onto:
        raise MoveIllegal("own-piece-not-pushed-ahead", f"your own piece stands on {_name(TILES[target])}")
    if other & onto:
        if TILES[target][1] == _LAST_RANK[seat]:
            raise MoveIllegal("push-on-board", f"no tile lies beyond {_name(TILES[target])}")
        beyond = target + _AHEAD[seat]
        _check_free(boards, target, beyond)
        other ^= onto | 1 << beyond
    return own | onto, other


def _tile(tile: Tile) -> int:
    index = INDEX_OF.get(tile)
    if index is None:
        raise MoveIllegal("tile-on-board", "a tile is a lane from 0 to 5 and a rank from 1 to 6")
    return index


def _own_piece(boards: Boards, tile: Tile) -> int:
    index = _tile(tile)
    if not boards[0] >> index & 1:
        raise MoveIllegal("move-own-piece", f"no piece of yours stands on {_name(tile)}")
    return index


def _check_lane(state: State, card: int, lane: int) -> None:
    if state.lanes[lane] != card:
        raise MoveIllegal(
            "end-in-lane-of-card",
            f"the piece would end in lane {lane} ({SYMBOLS[state.lanes[lane]]}), "
            f"but {SYMBOLS[card]} is lane {state.lanes.index(card)}",
        )


def _check_free(boards: Boards, target: int, beyond: int) -> None:
    if (boards[0] | boards[1]) >> beyond & 1:
        raise MoveIllegal(
            "push-onto-free-tile",
            f"the piece on {_name(TILES[target])} cannot be pushed: {_name(TILES[beyond])} is taken",
        )


def _name(tile: Tile) -> str:
    return f"[{tile[0]},{tile[1]}]"
