"""What one viewer is told about a match, gathered, so that two matches can be compared.

Everything is bytes as they leave a worker. Of a match that is still running exactly two things may tell
one seed from another, head hash and commitment; they are masked here, and nothing else is.
"""

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from services.core import shown
from services.core.chance import luck_key
from services.core.commands import Issued, SubmitMove
from services.core.decide import Decision, decide
from services.core.errors import DomainError
from services.core.match import Match
from services.core.match_events import Sitting
from services.core.secrecy import commitment
from tests.titles.secrecy_cases import Case, Viewer
from tests.titles.secrecy_lines import PLAYERS, T0, Played

STRANGER = "mallory"
ACCEPTED = b"accepted"
Told = dict[str, bytes]  # by what it is

_encode = msgspec.json.Encoder().encode


class Shared(NamedTuple):
    """A move made in twin positions. `alike`: the positions after it still look the same to the viewer."""

    move: str
    alike: bool
    leaks: list[str]


def leaks_between(one: Told, other: Told) -> list[str]:
    """Names what a viewer was told differently in two matches that must look the same."""
    return [name for name in one.keys() | other.keys() if one.get(name) != other.get(name)]


def told(match: Match, viewer: Viewer, moves: Sequence[Raw]) -> Told:
    """All that `viewer` can ask at this version; `moves` are tried, legal or not, as the viewer's own."""
    title = match.ruleset.title
    view = title.view(match.state, viewer)
    legal = [] if viewer is None else list(title.legal_moves(match.state, viewer))
    return {
        "view": _encode(view),
        "board": title.render(view).encode(),
        "match": masked(_encode(shown.show_match(match, viewer)), "commitment"),
        "legal moves": _encode([(move, title.notation(move)) for move in legal]),
        "number of legal moves": b"%d" % len(legal),
        **{f"answer to {bytes(move).decode()}": answer(match, viewer, move) for move in moves},
    }


def told_of_event(decision: Decision, viewer: Viewer) -> Told:
    """What `viewer` gets when an event has been stored: the event, and the receipt or push with the view."""
    match, event = decision.match, decision.event
    view = _encode(shown.show_match(match, viewer))
    found = {"receipt": masked(masked(_encode(shown.receipt(match, view)), "head"), "view", "commitment")}
    if match.outcome is None:  # the last event reveals seed and luck
        event_shown = _encode(shown.show_event(match, event, viewer, over=False))
        found["event"] = masked(event_shown, "data", "commitment")
    return found


def answer(match: Match, viewer: Viewer, move: Raw) -> bytes:
    """The refusal of the viewer's move with all its facts; or that it would be accepted."""
    player = STRANGER if viewer is None else PLAYERS[viewer]
    try:
        decide(match, SubmitMove(move=move), Issued(player=player, at=T0))
    except DomainError as error:
        return f"{error.reason} {error.facts} {error}".encode()
    return ACCEPTED


def masked(raw: bytes, *path: str) -> bytes:
    """JSON with the text at `path`, which must be there if what it lies in is, replaced by a star."""
    whole = json.loads(raw)
    inner = whole
    for name in path[:-1]:
        inner = inner.get(name, {})
    if path[-1] in inner:
        assert inner[path[-1]]
        inner[path[-1]] = "*"
    return json.dumps(whole).encode()


def twin_match(case: Case, match: Match, viewer: Viewer, rng: Random) -> Match:
    """`match` with another seed, other nonces, and whatever else `viewer` may not know of it."""
    seed = rng.randbytes(32)
    sittings = tuple(Sitting(sitting.player, rng.randbytes(4).hex()) for sitting in match.started.seats)
    return replace(
        match,
        state=case.twins.twin(match.state, viewer, rng),
        seed=seed,
        luck_key=luck_key(seed, match.id, [sitting.nonce for sitting in sittings]),
        head=rng.randbytes(32),
        started=replace(match.started, seats=sittings, commitment=commitment(seed), chance=[]),
    )


def next_moves(
    case: Case, one: Match, other: Match, viewer: Viewer, most: int, rng: Random
) -> Iterator[Shared]:
    """Up to `most` moves of each seat that both matches allow next, and what `viewer` is told of them."""
    for seat in sorted(one.to_act):
        there = set(case.title.legal_moves(other.state, seat))
        both = [move for move in case.title.legal_moves(one.state, seat) if move in there]
        for move in rng.sample(both, min(most, len(both))):
            yield _shared(case, one, other, viewer, Played(seat, move))


def _shared(case: Case, one: Match, other: Match, viewer: Viewer, played: Played) -> Shared:
    request_ids = ("mine", "mine") if played.seat == viewer else ("one", "other")
    after = [
        _decided(match, played, request_id)
        for match, request_id in zip((one, other), request_ids, strict=True)
    ]
    seen = [case.twins.known(decision.match.state, viewer) for decision in after]
    leaks = leaks_between(*(told_of_event(decision, viewer) for decision in after))
    alike = seen[0] == seen[1]
    if not alike:  # a card came up, or was drawn by the viewer: the position may tell it, the event may not
        leaks = [name for name in leaks if name == "event"]
    return Shared(case.title.notation(played.move), alike, leaks)


def _decided(match: Match, played: Played, request_id: str) -> Decision:
    command = SubmitMove(move=match.ruleset.write(played.move))
    issued = Issued(player=PLAYERS[played.seat], at=T0, request_id=request_id, traceparent=request_id)
    decision = decide(match, command, issued)
    assert isinstance(decision, Decision)
    return decision


def attempts(case: Case, moves: Sequence[Any], rng: Random, most: int) -> list[Raw]:
    """Moves to try: some that were played in a match, by whomever, and some with a member exchanged."""
    raws = [case.rules.write(move) for move in rng.sample(moves, min(most, len(moves)))]
    return [*raws, *(_mixed(rng.choice(raws), rng.choice(raws), rng) for _ in range(most // 2))]


def _mixed(one: Raw, other: Raw, rng: Random) -> Raw:
    """One move with one member of another: mostly of the right shape, and mostly illegal."""
    move, donor = json.loads(bytes(one)), json.loads(bytes(other))
    name = rng.choice(sorted(donor))
    return Raw(json.dumps({**move, name: donor[name]}).encode())
