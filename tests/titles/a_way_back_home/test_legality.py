"""`legal_moves` against `apply`: on sampled positions both agree on every move that can be written."""

from collections.abc import Iterator
from itertools import chain, product
from math import prod
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.errors import MoveIllegal, MoveUnreadable
from services.core.ruleset import Ruleset
from services.titles.a_way_back_home.components import COLOURS, PATHS
from services.titles.a_way_back_home.moves import Crystals, Draw, Move, Options, Place, Placement, Take
from services.titles.a_way_back_home.state import State
from tests.titles.a_way_back_home.positions import CHARACTERS, SIDE_A, TITLE, Dice, playout

PLACEMENTS = [Placement(crystal, path) for crystal, path in product(COLOURS, PATHS)]
READ = Ruleset(TITLE).read_move


def sampled(options: Options, seats: int, seed: int, every: int) -> Iterator[State]:
    """Some positions of a match in which nobody declares, so that paths get to their goals."""
    for n, (_, _, after) in enumerate(playout(options, seats, seed, declares=False)):
        if n % every == 0 and after.turns < 120:
            yield after


def placing_moves(random: Random) -> Iterator[Move]:
    """All with up to two placements, and some with three."""
    threes = (tuple(random.choices(PLACEMENTS, k=3)) for _ in range(50))
    for placements in chain([()], product(PLACEMENTS), product(PLACEMENTS, PLACEMENTS), threes):
        yield Place(placements)
        yield Place(placements, declare_end=True)


def taking_moves(state: State, random: Random) -> Iterator[Move]:
    """All amounts up to one more than the pool holds, or 2000 of them where that is too many."""
    ranges = [range(count + 2) for count in state.pool]
    amounts = product(*ranges)
    if prod(map(len, ranges)) > 2000:
        amounts = iter({tuple(map(random.choice, ranges)) for _ in range(2000)})
    return (Take(Crystals.of(counts)) for counts in amounts)


def is_accepted(state: State, move: Move) -> bool:
    try:
        TITLE.apply(state, state.turn, move, Dice(1))
    except MoveIllegal as refusal:
        assert refusal.rule in TITLE.rules
        return False
    return True


@pytest.mark.parametrize("options", [SIDE_A, *CHARACTERS])
def test_legal_moves_are_exactly_what_apply_accepts(options: Options) -> None:
    random = Random(5)
    for state in sampled(options, 2, seed=6, every=23):
        listed = list(TITLE.legal_moves(state, state.turn))
        assert len(set(listed)) == len(listed)
        others = placing_moves(random) if state.drawn else taking_moves(state, random)
        every = {*others, *listed, Draw(), Take(Crystals()), Place((PLACEMENTS[0],))}
        assert {move for move in every if is_accepted(state, move)} == set(listed)


def test_legal_moves_come_in_the_same_order_every_time() -> None:
    for state in sampled(CHARACTERS[3], 3, seed=2, every=5):
        assert list(TITLE.legal_moves(state, state.turn)) == list(TITLE.legal_moves(state, state.turn))


def test_apply_changes_nothing_it_is_given() -> None:
    for state in sampled(CHARACTERS[0], 3, seed=1, every=7):
        before = TITLE.canonical(state)
        for move in [*TITLE.legal_moves(state, state.turn), Draw(), Place((), declare_end=True)]:
            is_accepted(state, move)
            assert TITLE.canonical(state) == before


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([*COLOURS, "draw", "place", "take", "", "🟢"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*COLOURS, "type", "placements", "declare_end", "crystals", "crystal", "path"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
AMOUNTS = st.dictionaries(st.sampled_from(COLOURS), st.integers())
PLACED = st.fixed_dictionaries({"crystal": st.sampled_from(COLOURS), "path": st.sampled_from(PATHS)})
ALMOST_MOVES = st.one_of(
    JSON,
    st.fixed_dictionaries({"type": st.just("take"), "crystals": AMOUNTS | JSON}),
    st.fixed_dictionaries(
        {"type": st.just("place"), "placements": st.lists(PLACED, max_size=4) | JSON},
        optional={"declare_end": st.booleans() | JSON},
    ),
)
POSITIONS = [state for options in (SIDE_A, CHARACTERS[4]) for state in sampled(options, 2, seed=3, every=29)]


@given(ALMOST_MOVES, st.sampled_from(POSITIONS))
def test_any_json_is_a_move_or_unreadable_and_any_move_accepted_or_illegal(
    value: object, state: State
) -> None:
    try:
        move = READ(Ruleset(TITLE).write(value))
    except MoveUnreadable:
        return
    is_accepted(state, move)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"type":"draw","n":3}',
        b'{"type":"pass"}',
        b'{"type":"take","crystals":{"green":0}}',
        b'{"type":"take","crystals":{"green":-1}}',
        b'{"type":"take","crystals":{"green":21}}',
        b'{"type":"take","crystals":{"red":1}}',
        b'{"type":"take","crystals":{"green":1e400}}',
        b'{"type":"take","crystals":{"green":' + b"9" * 5000 + b"}}",
        b'{"type":"take"}',
        b'{"type":"place","placements":[{"crystal":"green","path":"wild"}]}',
        b'{"type":"place","placements":[{"crystal":"green"}]}',
        b'{"type":"place","placements":[],"declare_end":1}',
        b'{"type":"place","placements":' + b"[" * 5000,
        b"",
        b"\xff",
    ],
)
def test_what_has_no_move_s_shape_is_unreadable(raw: bytes) -> None:
    with pytest.raises(MoveUnreadable):
        READ(raw)


@pytest.mark.parametrize(
    ("raw", "move"),
    [
        (b'{"type":"draw"}', Draw()),
        (b'{"type":"take","crystals":{"green":3}}', Take(Crystals(green=3))),
        (
            b'{"type":"place","placements":[{"crystal":"wild","path":"blue"}],"declare_end":true}',
            Place((Placement("wild", "blue"),), declare_end=True),
        ),
        (b'{"type":"place","placements":[],"declare_end":false}', Place(())),
    ],
)
def test_moves_are_read_and_written_as_the_rules_write_them(raw: bytes, move: Move) -> None:
    assert READ(raw) == move
    assert bytes(Ruleset(TITLE).write(move)) == raw
