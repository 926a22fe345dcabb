"""The moves of Wayfare again, on a dict and point by point: slow, and close to the words of the rules.

Shares nothing with the title but the shape of a move, so that the two can be compared.
"""

from collections.abc import Iterator

from services.titles.wayfare.moves import AdventurerMove, GuideMove, Kind, Move

Point = tuple[int, int]
Board = dict[Point, str]  # a point's piece: WG, WA, BG or BA

STEPS = ((1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1))
KINDS: tuple[Kind, Kind] = ("guide", "adventurer")
LETTER = {"guide": "G", "adventurer": "A"}


def on_board(point: Point, size: int) -> bool:
    q, r = point
    return max(abs(q), abs(r), abs(-q - r)) <= size - 1


def neighbours(point: Point, size: int) -> list[Point]:
    around = ((point[0] + q, point[1] + r) for q, r in STEPS)
    return [place for place in around if on_board(place, size)]


def inward(start: Point, end: Point) -> bool:
    def depth(point: Point) -> tuple[int, int]:
        q, r = point
        s = -q - r
        return max(abs(q), abs(r), abs(s)), min(abs(q), abs(r), abs(s))

    return depth(end) < depth(start)


def acceptable(board: Board, size: int, colour: str) -> set[Move]:
    """All that the rules allow `colour`, with every `ref` under which there is a way."""
    moves: set[Move] = set()
    for start, piece in board.items():
        if piece == colour + "G":
            moves |= {GuideMove(start, to) for to in guide_targets(board, size, start)}
        elif piece == colour + "A":
            for ref in KINDS:
                ends = adventurer_targets(board, size, start, ref)
                moves |= {AdventurerMove(start, to, ref) for to in ends}
    return moves


def listable(moves: set[Move]) -> set[Move]:
    """`moves` with each that two kinds of `ref` allow only once, along guides."""

    def is_double(move: Move) -> bool:
        if isinstance(move, GuideMove) or move.ref == "guide":
            return False
        return AdventurerMove(move.from_, move.to, "guide") in moves

    return {move for move in moves if not is_double(move)}


def guide_targets(board: Board, size: int, start: Point) -> Iterator[Point]:
    enemy_guide = ("B" if board[start][0] == "W" else "W") + "G"
    for q, r in STEPS:
        passed = []
        place = (start[0] + q, start[1] + r)
        while on_board(place, size):
            if place in board:
                passed.append(board[place])
            elif passed == [enemy_guide] and inward(start, place):
                yield place
            place = (place[0] + q, place[1] + r)


def adventurer_targets(board: Board, size: int, start: Point, ref: Kind) -> set[Point]:
    rest = {point: piece for point, piece in board.items() if point != start}
    own = board[start][0]
    followed, enemy = own + LETTER[ref], ("B" if own == "W" else "W") + LETTER[ref]

    def in_contact(point: Point) -> bool:
        return any(rest.get(place) == followed for place in neighbours(point, size))

    ends: set[Point] = set()
    crossed: set[Point] = set()
    waiting = [start]
    while waiting:
        here = waiting.pop()
        for place in neighbours(here, size):
            if in_contact(place):
                if place not in rest and place not in crossed:
                    crossed.add(place)
                    waiting.append(place)
            elif (here != start or in_contact(start)) and rest.get(place) in (None, enemy):
                ends.add(place)
    return {end for end in ends if inward(start, end)}
