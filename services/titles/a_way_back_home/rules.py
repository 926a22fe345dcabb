"""The game from set-up to outcome. Pure; luck comes from the `Chance` handed in."""

from collections.abc import Iterator
from typing import assert_never

from msgspec.structs import replace

from services.core.chance import Chance
from services.core.errors import MoveIllegal, OptionInvalid
from services.core.title import Outcome
from services.titles.a_way_back_home import board
from services.titles.a_way_back_home.components import CHARACTERS, COLOUR_CRYSTALS, COLOURS, WILD_CRYSTALS
from services.titles.a_way_back_home.moves import Crystals, Draw, Move, Options, Place, Take
from services.titles.a_way_back_home.placing import legal_places, place
from services.titles.a_way_back_home.state import UNLIT, Counts, State, Tile, counted, minus, plus
from services.titles.a_way_back_home.takes import TAKES, in_force
from services.titles.a_way_back_home.turns import DRAWN, can_draw, end_turn

_COLOURED: Counts = (*(COLOUR_CRYSTALS,) * 6, 0)
_WILDS: Counts = (*(0,) * 6, WILD_CRYSTALS)
_DRAW = Draw()


def check(options: Options, seats: int) -> None:
    """Raises OptionInvalid."""
    if options.side == "A" and options.character != "random":
        raise OptionInvalid("character", "characters belong to Side B")
    if options.start != "random" and options.start >= seats:
        raise OptionInvalid("start", f"there is no seat {options.start} among {seats}")


def setup(options: Options, seats: int, chance: Chance) -> State:
    """Order of chance: by seat the three crystals for the pool, the starting seat, the character."""
    pool, bags = counted(()), []
    for _ in range(seats):
        bag, to_pool = _draw_from(_COLOURED, chance)
        pool = plus(pool, counted(to_pool))
        bags.append(plus(bag, _WILDS))
    start = chance.below(seats) if options.start == "random" else options.start
    return State(
        side=options.side,
        boards=(UNLIT,) * seats,
        bags=tuple(bags),
        pool=pool,
        tile=_tile(options, chance),
        start=start,
    )


def to_act(state: State) -> frozenset[int]:
    return frozenset() if state.ending else frozenset((state.turn,))


def legal_moves(state: State, seat: int) -> Iterator[Move]:
    """Draw before takes; takes and placements by colour, in the order of `COLOURS`."""
    if seat not in to_act(state):
        return
    if state.drawn:
        yield from legal_places(state)
        return
    if can_draw(state):
        yield _DRAW
    for counts in TAKES[in_force(state)].choices(state.pool):
        yield Take(Crystals.of(counts))


def apply(state: State, move: Move, chance: Chance) -> State:
    """The position after `move` of the seat whose turn it is. Raises MoveIllegal."""
    if state.ending:
        raise MoveIllegal("game-is-over", f"it ended by {state.ending}")
    if bool(state.drawn) != isinstance(move, Place):
        waiting = f"{len(state.drawn)} drawn crystals wait to be placed"
        raise MoveIllegal("place-after-drawing", waiting)
    match move:
        case Draw():
            return _drawn(state, chance)
        case Place():
            return end_turn(place(state, move))
        case Take():
            return end_turn(_taken(state, move.crystals.counts))
        case _:
            assert_never(move)


def scores(state: State) -> tuple[int, ...]:
    """By seat what the paths score, and 1 for the character tile."""
    holder = state.tile.where if state.tile else None
    return tuple(
        board.score(state.layout, cells) + (seat == holder) for seat, cells in enumerate(state.boards)
    )


def outcome(state: State) -> Outcome | None:
    """The highest score wins; of equals the first clockwise from the declarer, or the last active seat."""
    reason = state.ending
    if reason is None:
        return None
    points = scores(state)
    first = state.last_active if state.declared_by is None else state.declared_by
    order = [(first + n) % state.players for n in range(state.players)]
    return Outcome((max(order, key=points.__getitem__),), reason, points)


def _tile(options: Options, chance: Chance) -> Tile | None:
    if options.side == "A":
        return None
    return Tile(chance.below(len(CHARACTERS)) if options.character == "random" else options.character)


def _draw_from(bag: Counts, chance: Chance) -> tuple[Counts, tuple[int, ...]]:
    """The bag without three random crystals, and these, ascending. A bag is drawn from in colour order."""
    crystals = [colour for colour, count in enumerate(bag) for _ in range(count)]
    drawn = tuple(sorted(chance.draw(crystals, DRAWN)))
    return minus(bag, counted(drawn)), drawn


def _drawn(state: State, chance: Chance) -> State:
    seat = state.turn
    if not can_draw(state):
        raise MoveIllegal("draw-needs-three", f"crystals in the bag: {sum(state.bags[seat])}")
    bag, drawn = _draw_from(state.bags[seat], chance)
    return replace(state, bags=_with_bag(state, bag), drawn=drawn)


def _taken(state: State, taken: Counts) -> State:
    for colour, wanted, there in zip(COLOURS, taken, state.pool, strict=True):
        if not 0 <= wanted <= there:
            raise MoveIllegal("take-from-pool", f"{wanted} {colour} of {there} in the pool")
    action = TAKES[in_force(state)]
    if not action.allows(state.pool, taken):
        named = ", ".join(f"{count} {colour}" for colour, count in zip(COLOURS, taken, strict=True) if count)
        raise MoveIllegal(action.rule, f"the take was {named or 'nothing'}")
    return replace(
        state, pool=minus(state.pool, taken), bags=_with_bag(state, plus(state.bags[state.turn], taken))
    )


def _with_bag(state: State, bag: Counts) -> tuple[Counts, ...]:
    return (*state.bags[: state.turn], bag, *state.bags[state.turn + 1 :])
