"""What must hold in every match of every title, and where a title says what must hold in its own."""

from random import Random

import msgspec

from services.core.chance import Recorded
from tests.titles.found import Playout, Ply
from tests.titles.own_modules import own_module

LOOKS_A_MATCH = 1  # positions of each match at which the costly checks are made
REPLAYED = 0.25  # of the matches
NOTATIONS = 10  # legal moves written and read back at each


def check(playout: Playout, rng: Random) -> None:
    """Fails with an AssertionError where something does not hold."""
    title, plies = playout.setting.title, playout.plies
    assert plies, "a match has a move at least"
    for ply in plies:
        assert title.outcome(ply.before) is None
    _check_end(playout)
    for ply in rng.sample(plies, min(LOOKS_A_MATCH, len(plies))):
        _look(playout, ply, rng)
    if rng.random() < REPLAYED:
        _check_replay(playout)
    own_module(title.slug, "invariants").check(plies, rng)


def _check_end(playout: Playout) -> None:
    setting = playout.setting
    outcome = setting.title.outcome(playout.last)
    assert outcome is not None
    assert outcome.winners
    assert set(outcome.winners) <= set(range(setting.seats))
    assert outcome.scores is None or len(outcome.scores) == setting.seats
    assert not any(list(setting.title.legal_moves(playout.last, seat)) for seat in range(setting.seats))


def _check_replay(playout: Playout) -> None:
    """The recorded luck of one more run through the match leads to the same end."""
    setting = playout.setting
    title = setting.title
    chance = Recorded(playout.luck)
    state = title.setup(setting.rules.read_options(setting.options, setting.seats), setting.seats, chance)
    assert chance.spent
    for ply in playout.plies:
        chance = Recorded(ply.luck)
        state = title.apply(state, ply.seat, ply.move, chance)
        assert chance.spent
    assert title.canonical(state) == title.canonical(playout.last)


def _look(playout: Playout, ply: Ply, rng: Random) -> None:
    """Legal moves, notation, JSON, and what each viewer is shown of a twin of the position."""
    title, rules = playout.setting.title, playout.setting.rules
    listed = list(title.legal_moves(ply.before, ply.seat))
    assert len(set(listed)) == len(listed)
    assert ply.move in listed
    for move in rng.sample(listed, min(NOTATIONS, len(listed))):
        assert title.parse(title.notation(move)) == move
        assert rules.read_move(rules.write(move)) == move
    before = title.canonical(ply.before)
    title.apply(ply.before, ply.seat, ply.move, Recorded(ply.luck))
    assert title.canonical(ply.before) == before
    twins = own_module(title.slug, "twins")
    for viewer in (None, *range(playout.setting.seats)):
        shown = title.view(ply.before, viewer)
        twin = title.view(twins.twin(ply.before, viewer, rng), viewer)
        assert msgspec.json.encode(twin) == msgspec.json.encode(shown)
        assert title.render(shown).strip()
