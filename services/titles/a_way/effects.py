"""What each kind of card does with its parameters, as one table; Unknown Fate and Scrap Yard are in chain."""

from collections.abc import Iterator
from typing import assert_never

from services.core.errors import MoveIllegal
from services.titles.a_way import map_cards, ship_cards
from services.titles.a_way.components import CARDS, KIND, Kind
from services.titles.a_way.moves import (
    AXIS_INDEX,
    CARD_CELL_ROT,
    CARD_ROT,
    CELL_ROT,
    DEST,
    NOTHING,
    SEAT_DEST,
    Params,
    Shape,
    Stop,
)
from services.titles.a_way.state import State

SHAPE: dict[Kind, Shape] = {
    "exploration": CELL_ROT,
    "hyperdrive": DEST,
    "pirate_attack": SEAT_DEST,
    "solar_winds": DEST,
    "magnetic_field": CARD_ROT,
    "black_hole": AXIS_INDEX,
    "solar_tornado": CARD_CELL_ROT,
    "unknown_fate": NOTHING,
    "scrap_yard": NOTHING,
}


def choices(state: State, card: int) -> Iterator[Params]:
    """All parameters the card can be carried out with now, each once, in a fixed order."""
    match KIND[card]:
        case "exploration":
            yield from map_cards.lay_choices(state)
        case "hyperdrive":
            yield from ship_cards.hyperdrive_choices(state)
        case "solar_winds":
            yield from ship_cards.winds_choices(state)
        case "pirate_attack":
            yield from ship_cards.attack_choices(state)
        case "magnetic_field":
            yield from map_cards.turn_choices(state)
        case "solar_tornado":
            yield from map_cards.shift_choices(state)
        case "black_hole":
            yield from map_cards.swallow_choices(state)
        case "unknown_fate":
            if can_draw(state):
                yield Params()
        case "scrap_yard":
            if state.discard:
                yield Params()
        case "solar":
            raise AssertionError("a Solar card is never in a hand")
        case never:
            assert_never(never)


def is_possible(state: State, card: int) -> bool:
    """Whether the card can be carried out at all."""
    return next(choices(state, card), None) is not None


def can_draw(state: State) -> bool:
    # Renewing the draw pile keeps the top discard where it is.
    return bool(state.draw_pile) or len(state.discard) > 1


def check_shape(card: int, params: Params) -> None:
    """Raises MoveIllegal when these are not the parameters of this card."""
    wanted, given = SHAPE[KIND[card]], params.shape
    if wanted != given:
        listed = (", ".join(names) or "no parameters" for names in (wanted, given))
        raise MoveIllegal("params-fit-card", "{} takes {}, not {}".format(CARDS[card].id, *listed))


def carry_out(state: State, card: int, params: Params) -> State:
    """The effect on map and ships; the card itself goes nowhere, unless it is laid on the map.

    `params` have the shape of the card. Raises MoveIllegal.
    """
    match KIND[card], params:
        case "exploration", Params(cell=(int(x), int(y)), rot=int(rot)):
            return map_cards.lay(state, card, (x, y), rot)
        case "hyperdrive", Params(dest=Stop() as dest):
            return ship_cards.use_hyperdrive(state, dest)
        case "solar_winds", Params(dest=Stop() as dest):
            return ship_cards.use_winds(state, dest)
        case "pirate_attack", Params(seat=int(seat), dest=Stop() as dest):
            return ship_cards.attack(state, seat, dest)
        case "magnetic_field", Params(card=str(chosen), rot=int(rot)):
            return map_cards.turn(state, chosen, rot)
        case "solar_tornado", Params(card=str(chosen), cell=(int(x), int(y)), rot=int(rot)):
            return map_cards.shift(state, chosen, (x, y), rot)
        case "black_hole", Params(axis="row" | "col" as axis, index=int(index)):
            return map_cards.swallow(state, axis, index)
    raise AssertionError(f"{CARDS[card].id} has no effect of its own with {params}")
