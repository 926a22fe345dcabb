"""How a match begins: the set-up's luck is rolled and version 1 is sealed."""

from msgspec import Raw

from services.core.chance import Rolling, luck_key
from services.core.clock import Clock
from services.core.decide import Decision
from services.core.events import SYSTEM, Event, genesis, seal
from services.core.ids import MatchId, match_stream
from services.core.match import opened
from services.core.match_events import NAMES, MatchStarted, Sitting
from services.core.ruleset import Ruleset
from services.core.secrecy import commitment, digest, salt
from services.core.upcast import schema_of


def start(
    match: MatchId,
    ruleset: Ruleset,
    seed: bytes,
    *,
    options: Raw,
    seats: tuple[Sitting, ...],
    private: bool,
    clock: Clock | None,
    at: int,
    traceparent: str = "",
) -> Decision:
    """Version 1 of a match. The same arguments give the same entry, so starting twice is harmless.

    Raises OptionInvalid for options or a number of seats that the title does not offer.
    """
    title = ruleset.title
    typed = ruleset.read_options(options, len(seats))
    chance = Rolling(luck_key(seed, match, [sitting.nonce for sitting in seats]), 0)
    state = title.setup(typed, len(seats), chance)
    started = MatchStarted(
        title=title.slug,
        rules_version=title.rules_version,
        options=ruleset.write(typed),
        seats=seats,
        private=private,
        clock=clock,
        commitment=commitment(seed),
        chance=chance.outcomes,
    )
    name = NAMES[MatchStarted]
    event = Event(
        type=name,
        version=1,
        schema=schema_of(name),
        at=at,
        by=SYSTEM,
        data=ruleset.write(started),
        digest=digest(seed, title.canonical(state)),
        salt=salt(seed, 1),
        traceparent=traceparent,
    )
    entry = seal(event, genesis(match_stream(match)))
    return Decision(event, entry, opened(match, ruleset, seed, event, started, state, entry.hash))
