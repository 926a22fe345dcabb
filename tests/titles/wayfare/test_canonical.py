"""The bytes that digests are taken of."""

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from msgspec.structs import replace

from services.titles.wayfare.state import State, canonical, placed
from tests.titles.wayfare.positions import opening, pieces_of, positions, turns


def written_out(state: State) -> bytes:
    """The documented encoding, from the pieces by their coordinates."""
    size = state.size
    heading = [
        size,
        ("presence", "count").index(state.final_compare),
        2 if state.turn is None else state.turn,
    ]
    length = -(-2 * size * (2 * size - 1) // 8)
    planes = b""
    for kind in ("WG", "BG", "WA", "BA"):
        points = [point for point, piece in pieces_of(state).items() if piece == kind]
        number = sum(2 ** ((size - 1 - r) * 2 * size + size - 1 - q) for q, r in points)
        planes += number.to_bytes(length, "big")
    return bytes(heading) + planes


@given(positions())
@hypothesis_settings(deadline=None)
def test_the_bytes_are_as_documented(state):
    assert canonical(state) == written_out(state)


def test_the_first_position_keeps_its_bytes_for_ever():
    white, black = "000005d0811012010002042082100003c0", "001e0000420821020004024044085d0000"
    assert canonical(opening(6)).hex() == "060000" + white + black + "00" * 34


def test_the_same_position_reached_in_another_order_has_the_same_bytes():
    pieces = pieces_of(opening(6))
    backwards = dict(reversed(pieces.items()))
    assert canonical(placed(6, backwards)) == canonical(opening(6))


def test_move_count_and_pass_do_not_matter_for_play():
    state = opening(6)
    assert canonical(replace(state, ply=7, passed=True)) == canonical(state)


def test_every_other_difference_shows():
    state = opening(6)
    others = [
        replace(state, turn=1),
        replace(state, turn=None),
        replace(state, final_compare="count"),
        replace(state, guides=state.guides[::-1]),
        replace(state, guides=state.adventurers, adventurers=state.guides),
        opening(8),
    ]
    assert len({canonical(other) for other in [state, *others]}) == len(others) + 1


def test_no_position_of_a_game_comes_twice():
    for seed in range(4):
        seen = [canonical(turn.after) for turn in turns(seed)]
        assert len(set(seen)) == len(seen)
