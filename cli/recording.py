"""Recorded matches: made from random play, and replayed against the present code."""

import random
import re
from collections.abc import Iterable, Sequence
from importlib import resources

import msgspec

from cli.store_url import checked
from cli.titles import library, ruleset_for
from services.core.chance import Rolling, luck_key
from services.core.errors import DomainError, StoreUnavailable
from services.core.ids import MatchId, match_stream, stream_match
from services.core.recording import Recording, first_difference, moment, read, written
from services.core.replay import fold
from services.core.ruleset import Ruleset
from services.core.title import AnyTitle
from services.kit.redis_store import RedisStore

TRIES_MAX = 5_000


def print_recording(
    slug: str,
    *,
    seats: int,
    options: str,
    seed: int,
    plies_max: int,
    showing: Sequence[str] = (),
    tries_max: int = TRIES_MAX,
) -> int:
    """Prints the first random match that is short enough and shows all of `showing`, regular expressions.

    `seed` chooses where the search begins. 1 if `tries_max` matches hold none like that.
    """
    try:
        title = library(slug).title
        wanted = [re.compile(pattern, re.MULTILINE) for pattern in showing]
        for number in range(tries_max):
            recording = recorded(title, seats, options.encode(), f"{seed}/{number}", plies_max)
            text = written(recording) if recording else ""
            if recording and all(pattern.search(text) for pattern in wanted):
                print(text, end="")
                return 0
    except (DomainError, re.error) as error:
        print(error)
        return 1
    print(f"none of {tries_max} random matches of {slug} is like that within {plies_max} moves")
    return 1


def recorded(title: AnyTitle, seats: int, raw: bytes, seed: str, plies_max: int) -> Recording | None:
    """A random match, or None if it takes more than `plies_max` moves. Raises OptionInvalid."""
    rng = random.Random(seed)
    options = Ruleset(title).read_options(raw, seats)
    key = luck_key(rng.randbytes(32), "recorded", [""] * seats)
    chance = Rolling(key, 0)
    state = title.setup(options, seats, chance)
    luck, ordinal = chance.outcomes, len(chance.outcomes)
    moments = [moment(title, 1, state, None, None, [])]
    while to_act := title.to_act(state):
        if len(moments) > plies_max:
            return None
        seat = rng.choice(sorted(to_act))
        move = rng.choice(list(title.legal_moves(state, seat)))
        rolling = Rolling(key, ordinal)
        state = title.apply(state, seat, move, rolling)
        ordinal += len(rolling.outcomes)
        moments.append(moment(title, len(moments) + 1, state, seat, move, rolling.outcomes))
    return Recording(
        title=title.slug,
        rules_version=title.rules_version,
        seats=seats,
        options=msgspec.json.encode(options),
        luck=luck,
        moments=moments,
        outcome=msgspec.json.encode(title.outcome(state)),
    )


def shadow_recordings(slugs: Iterable[str]) -> int:
    """Replays every recorded match of these titles; prints a line each. The number that differ.

    Raises NoSuchTitle.
    """
    different = 0
    for slug in slugs:
        library(slug)  # a title that is none has no recorded matches either
        folder = resources.files("seeds").joinpath(slug).joinpath("matches")
        for file in sorted(folder.iterdir(), key=lambda file: file.name) if folder.is_dir() else ():
            recording = read(file.read_text())
            title = ruleset_for(recording.title, recording.rules_version).title
            different += _reported(f"{slug}/{file.name}", first_difference(recording, title))
    return different


async def shadow_redis(url: str) -> int:
    """Folds every match in a Redis with the present code; prints the ones that differ. Their number.

    Raises NoStore, StoreUnavailable.
    """
    store = RedisStore.reading(checked(url))
    different = matches = 0
    try:
        async for stream in store.streams():
            if stream != match_stream(stream_match(stream)):
                continue
            matches += 1
            different += await _shadow_match(store, stream_match(stream))
    finally:
        await store.close()
    print(f"{matches} matches, {matches - different} identical")
    return different


async def _shadow_match(store: RedisStore, match: MatchId) -> int:
    try:
        entries = await store.read(match_stream(match))
        seed = await store.seed(match)
        fold(match, seed or b"", entries, ruleset_for)
    except StoreUnavailable:
        raise
    except DomainError as error:
        return _reported(match, error)
    return 0


def _reported(name: str, fault: object) -> int:
    print(f"{name}: {'identical' if fault is None else f'DIFFERENT: {fault}'}")
    return 0 if fault is None else 1
