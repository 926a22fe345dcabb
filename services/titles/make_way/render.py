"""A view as text: seat 0 (R) plays upwards, seat 1 (B) downwards; tiles are named as in the notation."""

from msgspec.structs import asdict

from services.titles.make_way.view import Cards, View

_MARKS = "RB"
_WIDTH = 8


def render(view: View) -> str:
    marks = {piece.tile: _MARKS[piece.seat] for piece in view.board}
    ranks = (_row(str(rank), [marks.get((lane, rank), ".") for lane in range(6)]) for rank in range(6, 0, -1))
    return "\n".join(
        (
            _heading(view),
            _row("", view.lanes),
            *ranks,
            _row("", "abcdef"),
            *(_player(view, seat) for seat in (0, 1)),
            *(() if view.hand is None else (f"your hand: {_cards(view.hand)}",)),
            *(("no card can be played: discard one",) if view.must_discard else ()),
        )
    )


def _heading(view: View) -> str:
    whose = "game over" if view.turn is None else f"{_MARKS[view.turn]} to play"
    return (
        f"round {view.round} of {view.rounds}, {view.ply} turns taken, {view.deck_size} in the deck, {whose}"
    )


def _row(name: str, cells: tuple[str, ...] | list[str] | str) -> str:
    return f"{name:>2} " + "".join(f"{cell:^{_WIDTH}}" for cell in cells).rstrip()


def _player(view: View, seat: int) -> str:
    return (
        f"{_MARKS[seat]}: score {view.scores[seat]}, supply {view.supply[seat]}, "
        f"cards {view.hand_sizes[seat]}, spent {_cards(view.spent[seat])}"
    )


def _cards(cards: Cards) -> str:
    held = (f"{n} {symbol}" for symbol, n in asdict(cards).items() if n)
    return ", ".join(held) or "none"
