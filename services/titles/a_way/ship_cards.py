"""The cards that move ships: Hyperdrive!, Solar Winds and Pirate Attack!."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from services.core.errors import MoveIllegal
from services.titles.a_way.components import FIRST_STATION
from services.titles.a_way.flight import destinations, hyperdrive
from services.titles.a_way.moves import NUMBER_OF, STOP_AT, Params, Stop, stop_name
from services.titles.a_way.state import Notice, State


def own_flights(state: State) -> set[int]:
    """Where the ship of the turn may fly by one station."""
    seat = state.turn
    return destinations(state.sky, state.ships[seat], state.home(seat), state.others(seat))


def fly(state: State, dest: Stop) -> State:
    """The flight that needs no card."""
    return _land(state, state.turn, dest, own_flights(state), "flight-ends-on-next-stop")


def hyperdrive_choices(state: State) -> Iterator[Params]:
    if not _on_base(state, state.turn):
        yield from _dests(_hyperdrives(state))


def use_hyperdrive(state: State, dest: Stop) -> State:
    _check_own_ship(state)
    return _land(state, state.turn, dest, _hyperdrives(state), "hyperdrive-by-two-stations")


def winds_choices(state: State) -> Iterator[Params]:
    if not _on_base(state, state.turn):
        yield from _dests(_winds(state))


def use_winds(state: State, dest: Stop) -> State:
    _check_own_ship(state)
    return _land(state, state.turn, dest, _winds(state), "winds-end-on-next-stop")


def attack_choices(state: State) -> Iterator[Params]:
    for seat in range(state.players):
        if seat != state.turn and not _on_base(state, seat):
            for stop in sorted(_attacks(state, seat)):
                yield Params(seat=seat, dest=STOP_AT[stop])


def attack(state: State, seat: int, dest: Stop) -> State:
    if seat == state.turn or seat >= state.players:
        raise MoveIllegal("pirates-attack-another", f"seat {seat} is not another seat of this match")
    if _on_base(state, seat):
        raise MoveIllegal("attacked-ship-off-base", f"the ship of seat {seat} stands on a base")
    return _land(state, seat, dest, _attacks(state, seat), "attack-ends-on-station")


def _hyperdrives(state: State) -> set[int]:
    seat = state.turn
    return hyperdrive(state.sky, state.ships[seat], state.home(seat), state.others(seat))


def _winds(state: State) -> set[int]:
    seat = state.turn
    return destinations(state.sky, state.ships[seat], state.home(seat), state.others(seat), free=True)


def _attacks(state: State, seat: int) -> set[int]:
    return destinations(state.sky, state.ships[seat], None, state.others(seat), free=True)


def _dests(stops: AbstractSet[int]) -> Iterator[Params]:
    for stop in sorted(stops):
        yield Params(dest=STOP_AT[stop])


def _on_base(state: State, seat: int) -> bool:
    return state.ships[seat] < FIRST_STATION


def _check_own_ship(state: State) -> None:
    if _on_base(state, state.turn):
        raise MoveIllegal("own-ship-off-base", f"your ship stands on base {_name(state.ships[state.turn])}")


def _land(state: State, seat: int, dest: Stop, allowed: AbstractSet[int], rule: str) -> State:
    """The ship of `seat` at `dest`, and among the arrivals if that is its home."""
    stop = NUMBER_OF.get(dest)
    if stop is None or stop not in allowed:
        names = ", ".join(_name(stop) for stop in sorted(allowed)) or "nowhere"
        start = _name(state.ships[seat])
        raise MoveIllegal(rule, f"from {start} the ship can go to {names}, not to {stop_name(dest)}")
    ships = (*state.ships[:seat], stop, *state.ships[seat + 1 :])
    if stop != state.home(seat):
        return replace(state, ships=ships)
    notices = (*state.notices, Notice("arrived", seat))
    return replace(state, ships=ships, arrivals=(*state.arrivals, seat), notices=notices)


def _name(stop: int) -> str:
    return stop_name(STOP_AT[stop])
