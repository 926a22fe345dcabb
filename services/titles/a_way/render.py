"""A view as text: the map as a grid of cells, then ships, piles and the viewer's hand."""

from collections.abc import Iterator

from services.titles.a_way.components import FACTIONS
from services.titles.a_way.moves import stop_name
from services.titles.a_way.view import View

_LINE_MAX = 120
_MARGIN = 5


def render(view: View) -> str:
    """Cells show a card with its quarter turns ("S3/1") or a base ("[W]"); seats of ships follow a `*`.

    A map too wide for a line is cut into bands of columns, one below the other.
    """
    return "\n".join((*_heading(view), *_grid(view), *_ships(view), *_cards(view)))


def _heading(view: View) -> Iterator[str]:
    if view.turn is None:
        yield f"round {view.round}: over, seats that lead: {_list(view.leaders)}"
    else:
        faction = f", {FACTIONS[view.faction]} cards only" if view.faction else ""
        yield f"round {view.round}: seat {view.turn} to act, phase {view.phase}{faction}"
    for notice in view.notices:
        card = f" {notice.card}" if notice.card else ""
        yield f"seat {notice.seat}: {notice.kind.replace('_', ' ')}{card}"


def _grid(view: View) -> Iterator[str]:
    texts = {laid.cell: f"{laid.id}/{laid.rot}" for laid in view.map}
    texts |= {base.cell: f"[{base.name}]" for base in view.bases}
    for cell in {ship.cell for ship in view.ships}:
        texts[cell] += "*" + "".join(f"{seat}" for seat, ship in enumerate(view.ships) if ship.cell == cell)
    columns = range(min(x for x, _ in texts), max(x for x, _ in texts) + 1)
    rows = range(min(y for _, y in texts), max(y for _, y in texts) + 1)
    width = max(map(len, texts.values())) + 1
    at_once = (_LINE_MAX - _MARGIN) // width
    for first in range(0, len(columns), at_once):
        band = columns[first : first + at_once]
        yield " " * _MARGIN + "".join(f"{x:^{width}}" for x in band).rstrip()
        for y in rows:
            yield f"{y:4} " + "".join(f"{texts.get((x, y), '.'):^{width}}" for x in band).rstrip()


def _ships(view: View) -> Iterator[str]:
    for seat, ship in enumerate(view.ships):
        way = "no way home" if ship.movements_home is None else f"{ship.movements_home} from home"
        yield f"seat {seat}: ship at {stop_name(ship.at)}, {way} {ship.home}, hand of {view.hand_sizes[seat]}"


def _cards(view: View) -> Iterator[str]:
    yield f"draw pile {view.draw_pile_size}, discard pile {len(view.discard)}, top {_list(view.discard[-1:])}"
    if view.removed:
        yield f"out of the game: {_list(view.removed)}"
    if view.resolving:
        yield f"being played: {_list(view.resolving)}"
    if view.pending:
        yield f"to be carried out: {view.pending.card.id}"
    if view.hand is not None:
        yield f"hand: {_list(tuple(card.id for card in view.hand))}"


def _list(values: tuple[str, ...] | tuple[int, ...]) -> str:
    return " ".join(map(str, values)) or "none"
