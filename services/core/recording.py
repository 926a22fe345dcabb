"""A recorded match: a text file with the board, the move and a digest at every version.

It is the net under every change of a title: replayed by the tests, a changed digest is a decision
(a new rules version), never an accident. People can read it, and diffs of it make sense.

    title: high_card
    rules_version: 1
    seats: 2
    options: {"rounds":1,"start":0}
    luck: [[3,0,1,2],17]

    version 1 digest 0f3c...
        the board, as a spectator sees it

    version 2 seat 0 move p17 luck [] digest 77ab...
        ...

    outcome: {"winners":[0],"reason":"most_points","scores":[1,0]}
"""

import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec

from services.core.chance import LuckMismatch, LuckOutcome, Recorded
from services.core.errors import BadRequest, DomainError
from services.core.ruleset import Ruleset
from services.core.title import AnyTitle

_INDENT = "    "
_HEADER = re.compile(r"(title|rules_version|seats|options|luck|outcome): (.*)")
_VERSION = re.compile(r"version (\d+)(?: seat (\d+) move (.+) luck (\[.*\]))? digest ([0-9a-f]{32})")


class Moment(NamedTuple):
    """One version. `seat` and `move` (notation) are of the move that led here; None and "" at version 1."""

    version: int
    seat: int | None
    move: str
    luck: list[LuckOutcome]
    digest: str
    board: str


class Recording(NamedTuple):
    """A whole match. `options` and `outcome` are JSON; `luck` is the set-up's."""

    title: str
    rules_version: int
    seats: int
    options: bytes
    luck: list[LuckOutcome]
    moments: list[Moment]
    outcome: bytes


class Difference(NamedTuple):
    """The first version at which the present code does something else."""

    version: int
    what: str


def digest_of(title: AnyTitle, state: Any) -> str:
    """Unkeyed BLAKE2b-128 of the canonical encoding, hexadecimal: recordings have no secrets."""
    return blake2b(title.canonical(state), digest_size=16).hexdigest()


def moment(title: AnyTitle, version: int, state: Any, seat: int | None, move: Any, luck: Any) -> Moment:
    """What is written down at one version."""
    notation = "" if move is None else title.notation(move)
    board = title.render(title.view(state, None))
    return Moment(version, seat, notation, list(luck), digest_of(title, state), board)


def written(recording: Recording) -> str:
    """The file's text."""
    return "\n".join(_lines(recording)) + "\n"


def _lines(recording: Recording) -> Iterator[str]:
    yield f"title: {recording.title}"
    yield f"rules_version: {recording.rules_version}"
    yield f"seats: {recording.seats}"
    yield f"options: {recording.options.decode()}"
    yield f"luck: {_json(recording.luck)}"
    for each in recording.moments:
        yield ""
        move = "" if each.seat is None else f" seat {each.seat} move {each.move} luck {_json(each.luck)}"
        yield f"version {each.version}{move} digest {each.digest}"
        for line in each.board.splitlines():
            yield (_INDENT + line).rstrip()
    yield ""
    yield f"outcome: {recording.outcome.decode()}"


def read(text: str) -> Recording:
    """The recording in a file's text. Raises BadRequest with the line that is wrong."""
    header: dict[str, str] = {}
    moments: list[Moment] = []
    blank = 0  # lines since the last one that says something: inside a board they belong to it
    for number, line in enumerate(text.splitlines(), 1):
        if found := _HEADER.fullmatch(line):
            header[found[1]] = found[2]
        elif found := _VERSION.fullmatch(line):
            seat = None if found[2] is None else int(found[2])
            luck = _luck(number, found[4] or "[]")
            moments.append(Moment(int(found[1]), seat, found[3] or "", luck, found[5], ""))
        elif line.startswith(_INDENT) and moments:
            board = moments[-1].board
            shown = line.removeprefix(_INDENT)
            gap = "\n" * (1 + blank)
            moments[-1] = moments[-1]._replace(board=f"{board}{gap}{shown}" if board else shown)
        elif line.strip():
            raise BadRequest(f"line {number}", f"is none of a recording: {line[:60]}")
        blank = 0 if line.strip() else blank + 1
    try:
        return Recording(
            title=header["title"],
            rules_version=int(header["rules_version"]),
            seats=int(header["seats"]),
            options=header["options"].encode(),
            luck=msgspec.json.decode(header["luck"], type=list[LuckOutcome]),
            moments=moments,
            outcome=header["outcome"].encode(),
        )
    except (KeyError, ValueError) as error:
        raise BadRequest("recording", f"has a bad header: {error!r}") from error


def _luck(number: int, text: str) -> list[LuckOutcome]:
    """The luck on line `number` of a file. Raises BadRequest."""
    try:
        return msgspec.json.decode(text, type=list[LuckOutcome])
    except msgspec.MsgspecError as error:
        raise BadRequest(f"line {number}", f"has unreadable luck: {error}") from error


def first_difference(recording: Recording, title: AnyTitle) -> Difference | None:
    """Replays the recording with `title`; None when every version is the same, to the byte."""
    rules = Ruleset(title)
    state: Any = None
    version = 0
    try:
        for each in recording.moments:
            version = each.version
            chance = Recorded(recording.luck if each.seat is None else each.luck)
            move = None
            if each.seat is None:
                options = rules.read_options(recording.options, recording.seats)
                state = title.setup(options, recording.seats, chance)
            else:
                if each.seat not in title.to_act(state):
                    return Difference(version, f"seat {each.seat} may not act")
                move = title.parse(each.move)
                state = title.apply(state, each.seat, move, chance)
            now = moment(title, version, state, each.seat, move, each.luck)
            if _plain(now) != _plain(each):
                return Difference(version, _what_differs(now, each))
            if not chance.spent:
                return Difference(version, "less luck is asked for")
        outcome = msgspec.json.encode(title.outcome(state))
        if outcome != recording.outcome:
            return Difference(version, f"the outcome is {outcome.decode()}")
    except (DomainError, LuckMismatch) as error:
        return Difference(version, str(error))
    return None


def _plain(each: Moment) -> Moment:
    """As a file keeps it: without white space at the ends of lines, and blank lines at the end."""
    board = "\n".join(line.rstrip() for line in each.board.splitlines())
    return each._replace(board=board.strip("\n"))


def _what_differs(now: Moment, then: Moment) -> str:
    if now.digest != then.digest:
        return f"the position is another one (digest {now.digest}, recorded {then.digest})"
    return "the position is the same, but board or notation are shown differently"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
