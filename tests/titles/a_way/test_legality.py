"""Legal moves are exactly what `apply` accepts out of all moves that can be written."""

import json
from collections.abc import Iterator
from itertools import permutations, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from services.core.errors import MoveIllegal, MoveUnreadable
from services.core.ruleset import Ruleset
from services.titles.a_way.components import CARDS, DRAWN, KIND
from services.titles.a_way.effects import SHAPE
from services.titles.a_way.moves import (
    STOP_AT,
    Discard,
    EndPlay,
    Move,
    MoveShip,
    Params,
    PlayCard,
    ResolveCard,
    Skip,
    Stop,
)
from services.titles.a_way.state import State
from tests.titles.a_way.positions import TITLE, Dice, playout

RULES = Ruleset(TITLE)
MAP_IDS = [card.id for card in CARDS if card.kind in ("solar", "exploration")]


def sampled(seats: int, seed: int, most: int) -> list[State]:
    """Positions of a random match, of every phase."""
    by_phase: dict[str, list[State]] = {}
    for before, _, _ in playout(seats, seed):
        by_phase.setdefault(before.phase, []).append(before)
    random = Random(seed)
    return [state for states in by_phase.values() for state in random.sample(states, min(most, len(states)))]


def space(state: State, card: int) -> Iterator[Params]:
    """All parameters of the card's shape, cells and lines up to two beyond the map's edge."""
    xs, ys = zip(*state.sky.cells, strict=True)
    across, down = range(min(xs) - 2, max(xs) + 3), range(min(ys) - 2, max(ys) + 3)
    values = {
        "seat": range(4),
        "card": MAP_IDS,
        "cell": list(product(across, down)),
        "rot": range(4),
        "dest": STOP_AT,
        "axis": ("row", "col"),
        "index": range(min(*xs, *ys) - 2, max(*xs, *ys) + 3),
    }
    shape = SHAPE[KIND[card]]
    return (
        Params(**dict(zip(shape, some, strict=True))) for some in product(*(values[name] for name in shape))
    )


def all_moves(state: State) -> Iterator[Move]:
    """Every move of this position's cards, and a foreign card for good measure."""
    foreign = next(card for card in DRAWN if card not in state.hand)
    yield EndPlay()
    yield Skip()
    yield from (MoveShip(stop) for stop in STOP_AT)
    for count in (1, 2, 3):
        for cards in permutations((*state.hand, foreign), count):
            yield Discard(tuple(CARDS[card].id for card in cards))
    for card in (*state.hand, foreign):
        yield from (PlayCard(CARDS[card].id, params) for params in space(state, card))
    pending = foreign if state.pending is None else state.pending
    yield from (ResolveCard(params) for params in space(state, pending))


def is_accepted(state: State, move: Move) -> bool:
    try:
        TITLE.apply(state, state.turn, move, Dice(1))
    except MoveIllegal as refusal:
        assert refusal.rule in TITLE.rules
        assert refusal.detail
        return False
    return True


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_legal_moves_are_all_moves_that_are_accepted(seats: int) -> None:
    for state in sampled(seats, seed=3, most=5):
        listed = list(TITLE.legal_moves(state, state.turn))
        assert len(set(listed)) == len(listed)
        assert {move for move in all_moves(state) if is_accepted(state, move)} == set(listed)


def test_parameters_of_a_foreign_shape_are_refused_for_every_card() -> None:
    state = next(state for state in sampled(2, 4, 20) if state.phase == "main")
    foreign = [
        Params(),
        Params(rot=1, cell=(0, 1)),
        Params(dest=STOP_AT[9]),
        Params(seat=1, dest=STOP_AT[9]),
        Params(card="S1", rot=1),
        Params(card="E1P1", cell=(0, 1), rot=0),
        Params(axis="row", index=1),
    ]
    for card in state.hand:
        for params in foreign:
            if params.shape != SHAPE[KIND[card]]:
                with pytest.raises(MoveIllegal) as refusal:
                    TITLE.apply(state, state.turn, PlayCard(CARDS[card].id, params), Dice(1))
                assert refusal.value.rule == "params-fit-card"


NUMBERS = st.integers(-3, 8) | st.sampled_from([-(2**63), -32769, -32768, 32767, 32768, 2**63, 10**30])
TEXTS = st.sampled_from(
    ["S1", "S9", "E1P1", "E1P2", "E2P10", "A1-hyperdrive", "", "E", "n", "se", "v", "row"]
)
STOPS = st.fixed_dictionaries({}, optional={"card": TEXTS, "station": TEXTS, "base": TEXTS, "x": NUMBERS})
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "seat": NUMBERS,
        "card": TEXTS,
        "cell": st.lists(NUMBERS, max_size=3),
        "rot": NUMBERS,
        "dest": STOPS | TEXTS,
        "axis": TEXTS,
        "index": NUMBERS,
    },
)
TYPES = st.sampled_from(["move", "play_card", "resolve_card", "end_play", "discard", "skip", "pass"])
MOVES = st.fixed_dictionaries(
    {"type": TYPES},
    optional={"dest": STOPS, "card": TEXTS, "params": PARAMS | NUMBERS, "cards": st.lists(TEXTS, max_size=4)},
)
POSITIONS = sampled(3, seed=5, most=4)


@settings(deadline=None, max_examples=300)
@given(MOVES | st.dictionaries(TEXTS, NUMBERS), st.sampled_from(POSITIONS))
def test_any_json_is_a_move_that_is_accepted_refused_by_a_rule_or_unreadable(
    value: object, state: State
) -> None:
    try:
        move = RULES.read_move(json.dumps(value).encode())
    except MoveUnreadable:
        return
    is_accepted(state, move)
    assert TITLE.parse(TITLE.notation(move)) == move


@pytest.mark.parametrize(
    "raw",
    [
        b'{"type":"move","dest":{}}',
        b'{"type":"move","dest":{"card":"S1"}}',
        b'{"type":"move","dest":{"card":"S1","station":"ne","base":"N"}}',
        b'{"type":"move","dest":{"base":"X"}}',
        b'{"type":"move","dest":{"card":"S1\\n","station":"ne"}}',
        b'{"type":"play_card","card":"E1P1"}',
        b'{"type":"play_card","card":"E1P1","params":{"cell":[0,1]}}',
        b'{"type":"play_card","card":"E1P1","params":{"cell":[0,1],"rot":4}}',
        b'{"type":"play_card","card":"E1P1","params":{"cell":[0,32768],"rot":0}}',
        b'{"type":"play_card","card":"E1P1","params":{"cell":[0,1],"rot":0,"seat":1}}',
        b'{"type":"play_card","card":"E1P1","params":{"cell":null}}',
        b'{"type":"discard","cards":[]}',
        b'{"type":"discard","cards":["E1P1","E1P3","E1P5","E1P7"]}',
        b'{"type":"skip","x":1}',
    ],
)
def test_what_is_no_move_of_the_rules_tables_is_unreadable(raw: bytes) -> None:
    with pytest.raises(MoveUnreadable):
        RULES.read_move(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"type":"move","dest":{"card":"S9","station":"se"}}',
        b'{"type":"move","dest":{"base":"W"}}',
        b'{"type":"play_card","card":"E1P5","params":{"cell":[0,-1],"rot":2}}',
        b'{"type":"play_card","card":"A3-black_hole","params":{"axis":"row","index":-1}}',
        b'{"type":"play_card","card":"A1-unknown_fate","params":{}}',
        b'{"type":"play_card","card":"A1-pirate_attack","params":{"seat":1,"dest":{"card":"S1","station":"ne"}}}',
        b'{"type":"resolve_card","params":{"card":"E1P3","cell":[2,1],"rot":0}}',
        b'{"type":"end_play"}',
        b'{"type":"discard","cards":["E1P1","A2-black_hole"]}',
        b'{"type":"skip"}',
    ],
)
def test_moves_are_written_as_the_rules_tables_have_them(raw: bytes) -> None:
    assert bytes(RULES.write(RULES.read_move(raw))) == raw


def test_a_stop_has_no_other_form_than_a_station_or_a_base() -> None:
    assert Stop(base="N").card is UNSET
    with pytest.raises(ValueError, match="a stop is"):
        Stop(card="S1")
