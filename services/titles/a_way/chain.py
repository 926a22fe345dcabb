"""A card of the hand is played, and with it the chain of cards that Unknown Fate and Scrap Yard bring up.

The cards of a chain wait in `resolving` until it is done, then go to the discard pile in the order played.
So Scrap Yard never finds itself, and every chain ends: each link takes a card off a pile.
"""

from msgspec.structs import replace

from services.core.chance import Chance
from services.core.errors import MoveIllegal
from services.titles.a_way.components import CARDS, EXPLORATION, FACTION, FACTIONS, KIND, NUMBER
from services.titles.a_way.effects import carry_out, check_shape, is_possible
from services.titles.a_way.moves import Params
from services.titles.a_way.piles import drawn, with_hand
from services.titles.a_way.state import Notice, NoticeKind, State
from services.titles.a_way.turns import after_main_action


def play(state: State, card_id: str, params: Params, chance: Chance) -> State:
    """A card of the hand, carried out with `params`. Raises MoveIllegal."""
    card = NUMBER.get(card_id)
    if card is None or card not in state.hand:
        raise MoveIllegal("card-in-hand", f"{card_id} is not in your hand")
    if state.faction and FACTION[card] != state.faction:
        wanted, given = FACTIONS[state.faction], FACTIONS[FACTION[card]]
        raise MoveIllegal("one-faction-a-turn", f"{card_id} is a {given} card; only {wanted} may follow")
    check_shape(card, params)
    if KIND[card] in _SEARCHES and not is_possible(state, card):
        raise _nothing_found(card)
    rest = tuple(held for held in state.hand if held != card)
    return _carry_out(with_hand(state, rest), card, params, chance)


def resolve(state: State, params: Params, chance: Chance) -> State:
    """The card that was brought up, carried out with `params`. Raises MoveIllegal."""
    card = state.pending
    assert card is not None, "in phase resolve a card is pending"
    check_shape(card, params)
    return _carry_out(replace(state, pending=None), card, params, chance)


def _nothing_found(card: int) -> MoveIllegal:
    if KIND[card] == "unknown_fate":
        return MoveIllegal("card-can-be-drawn", "no card is left to draw")
    return MoveIllegal("pile-holds-card", "the discard pile is empty")


def _carry_out(state: State, card: int, params: Params, chance: Chance) -> State:
    if KIND[card] in _SEARCHES:
        return _bring_up(_played(state, card), card, chance)
    state = carry_out(state, card, params)
    if card in EXPLORATION:
        return _done(replace(state, faction=FACTION[card]), chance)
    return _done(_played(state, card), chance)


_SEARCHES: dict[str, NoticeKind] = {"unknown_fate": "revealed", "scrap_yard": "fetched"}


def _bring_up(state: State, search: int, chance: Chance) -> State:
    """What a search finds, then what that finds, up to a card that waits for parameters or fizzles."""
    while True:
        state, found = _found(state, search, chance)
        if not is_possible(state, found):
            notices = (*state.notices, Notice("fizzled", state.turn, CARDS[found].id))
            return _done(_played(replace(state, notices=notices), found), chance)
        if KIND[found] not in _SEARCHES:
            return replace(state, phase="resolve", pending=found)
        state = _played(state, found)
        search = found


def _found(state: State, search: int, chance: Chance) -> tuple[State, int]:
    kind = KIND[search]
    if kind == "unknown_fate":
        state, (found,) = drawn(state, 1, chance)
    else:
        found = state.discard[-1]
        state = replace(state, discard=state.discard[:-1])
    notices = (*state.notices, Notice(_SEARCHES[kind], state.turn, CARDS[found].id))
    return replace(state, notices=notices), found


def _played(state: State, card: int) -> State:
    """The card among those that wait for the chain's end; its faction is the turn's from now on."""
    return replace(state, resolving=(*state.resolving, card), faction=FACTION[card])


def _done(state: State, chance: Chance) -> State:
    """The chain's cards are discarded. More cards may follow, unless the ship is home."""
    state = replace(state, phase="playing", discard=state.discard + state.resolving, resolving=())
    return after_main_action(state, chance) if state.turn in state.arrivals else state
