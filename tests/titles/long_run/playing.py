"""Random matches for the long run: the same for the same title, seed and number, in any process."""

from functools import cache
from random import Random
from typing import Any

from services.core.chance import Rolling, luck_key
from tests.titles.found import Playout, Ply, Setting
from tests.titles.long_run.settings import every_setting
from tests.titles.own_modules import own_module

PLIES_MAX = 20_000  # far more than any title allows: a match that never ends is a fault too


@cache
def _settings(slug: str) -> list[Setting]:
    return every_setting(slug)


def setting_of(slug: str, number: int) -> Setting:
    """Match after match goes round all settings of the title."""
    return _settings(slug)[number % len(_settings(slug))]


def played(slug: str, seed: int, number: int) -> Playout:
    """One whole match. A title's invariants.py may say how moves are `chosen`; else all are as likely."""
    setting = setting_of(slug, number)
    title, rng = setting.title, Random(f"{slug} {seed} {number}")
    choose = getattr(own_module(slug, "invariants"), "chosen", None)
    key = luck_key(rng.randbytes(32), "m", [""] * setting.seats)
    chance = Rolling(key, 0)
    options = setting.rules.read_options(setting.options, setting.seats)
    first = state = title.setup(options, setting.seats, chance)
    luck, ordinal = chance.outcomes, len(chance.outcomes)
    plies: list[Ply] = []
    while to_act := title.to_act(state):
        assert len(plies) < PLIES_MAX, "the match does not end"
        seat = rng.choice(sorted(to_act))
        move: Any = choose(state, seat, rng) if choose else rng.choice(list(title.legal_moves(state, seat)))
        chance = Rolling(key, ordinal)
        after = title.apply(state, seat, move, chance)
        ordinal += len(chance.outcomes)
        plies.append(Ply(state, seat, move, chance.outcomes, after))
        state = after
    return Playout(setting, first, luck, plies)
