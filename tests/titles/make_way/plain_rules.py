"""The plays of seeds/make_way/rules.md once more, slowly: a dict of tiles, one tile at a time.

It shares no code with the title but the moves' types, so a slip in the bitboards shows as a difference.
"""

from services.titles.make_way.components import SYMBOLS, tiles_of
from services.titles.make_way.moves import Advance, Enter, Play, Shift, Tile
from services.titles.make_way.state import State

Board = dict[Tile, int]  # tile -> seat
TILES = [(lane, rank) for lane in range(6) for rank in range(1, 7)]


def board_of(state: State) -> Board:
    return {tile: seat for seat in (0, 1) for tile in tiles_of(state.boards[seat])}


def after(state: State, seat: int, play: Play) -> Board | None:
    """The board after `play`; None where the rules forbid it."""
    symbol = SYMBOLS.index(play.card)
    if not state.hands[seat][symbol]:
        return None
    board = board_of(state)
    lane, ahead = state.lanes.index(symbol), 1 - 2 * seat
    match play.move:
        case Advance(origin):
            target = (origin[0], origin[1] + ahead)
            own = board.pop(origin, None) == seat
            allowed = own and target in TILES and _push(board, target, (0, ahead), {1 - seat})
        case Shift(origin, direction):
            target = ((origin[0] + direction) % 6, origin[1])
            own = board.pop(origin, None) == seat
            allowed = own and _push(board, target, (direction, 0), {0, 1})
        case Enter(target):
            own_rank = target[1] if seat == 0 else 7 - target[1]
            reinforces = board.get((target[0], target[1] + ahead)) == seat
            allowed = state.supply[seat] >= 1 and (own_rank == 1 or reinforces)
            allowed = allowed and _push(board, target, (0, ahead), {1 - seat})
    if not allowed or target[0] != lane:
        return None
    return {**board, target: seat}


def _push(board: Board, target: Tile, by: tuple[int, int], whose: set[int]) -> bool:
    """Clears `target` if the rules allow it; whether it is clear."""
    if target not in board:
        return True
    beyond = ((target[0] + by[0]) % 6, target[1] + by[1])
    if board[target] not in whose or beyond not in TILES or beyond in board:
        return False
    board[beyond] = board.pop(target)
    return True


def score(state: State, seat: int) -> int:
    """The total of `seat`, walking back from each piece."""
    board, back = board_of(state), 2 * seat - 1
    total = 0
    for (lane, rank), owner in board.items():
        if owner == seat:
            while 1 <= rank <= 6 and board.get((lane, rank)) != 1 - seat:
                total, rank = total + 1, rank + back
    return total
