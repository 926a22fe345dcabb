"""What holds for every title, whichever folders there are."""

import contextlib
import json
import os
import random
import re
import subprocess
import sys
from hashlib import blake2b
from importlib import resources
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from services.core.chance import Recorded, Rolling
from services.core.errors import DomainError, MoveIllegal, MoveUnreadable, OptionInvalid
from services.core.ruleset import Ruleset
from tests.titles.found import SLUGS, match_of, play, sampled, settings, title_of

ROOT = Path(__file__).resolve().parents[2]

each_title = pytest.mark.parametrize("slug", SLUGS)
each_setting = pytest.mark.parametrize("setting", settings(), ids=lambda setting: setting.name)


def fingerprint(playout):
    """A digest over every position of a match."""
    positions = [playout.first, *(ply.after for ply in playout.plies)]
    canonical = playout.setting.title.canonical
    return blake2b(b"".join(map(canonical, positions)), digest_size=16).hexdigest()


@each_title
def test_a_title_says_who_it_is(slug):
    title = title_of(slug)
    assert title.slug == slug
    assert title.name
    assert title.seats.start >= 2
    assert title.seats.step == 1
    assert len(title.seats) >= 1
    assert isinstance(title.takebacks, bool)
    assert title.rules_version >= 1


@each_title
def test_every_rule_has_a_kebab_case_id_and_a_sentence(slug):
    rules = title_of(slug).rules
    assert rules
    for rule, sentence in rules.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule)
        assert sentence[0].isupper()
        assert sentence.endswith(".")


@each_title
def test_the_folder_has_the_same_files_as_its_neighbours(slug):
    folder = ROOT / "services" / "titles" / slug
    wanted = ["title", "moves", "state", "rules", "view", "notation", "render"]
    missing = [name for name in wanted if not (folder / f"{name}.py").is_file()]
    assert missing == []
    assert (folder / "README.md").is_file()


@each_title
def test_the_rules_for_players_are_served_from_seeds(slug):
    text = resources.files("seeds").joinpath(slug).joinpath("rules.md").read_text()
    assert text.startswith("# ")
    assert len(text.splitlines()) > 3


@each_title
def test_the_schemas_are_valid_json_schemas(slug):
    schemas = Ruleset(title_of(slug)).schemas
    Draft202012Validator.check_schema(schemas)
    assert {"options", "move", "view", "$defs"} == set(schemas)


@each_title
def test_no_options_are_the_defaults(slug):
    title = title_of(slug)
    options = Ruleset(title).read_options(b"", title.seats.start)
    assert options == title.Options()


@each_title
@pytest.mark.parametrize("raw", [b'{"no_such_option":1}', b"[]", b"7", b"{", b"\xff", b'"x"', b"null"])
def test_bad_options_are_refused(slug, raw):
    title = title_of(slug)
    with pytest.raises(DomainError) as refused:
        Ruleset(title).read_options(raw, title.seats.start)
    assert refused.value.reason in ("OPTION_INVALID", "BAD_REQUEST")


@each_title
def test_an_option_with_a_wrong_value_is_named(slug):
    title = title_of(slug)
    for option in title.Options.__struct_fields__:
        with pytest.raises(OptionInvalid) as refused:
            Ruleset(title).read_options(json.dumps({option: ["wrong"]}).encode(), title.seats.start)
        assert refused.value.option == option


@each_title
def test_a_wrong_number_of_seats_is_refused(slug):
    title = title_of(slug)
    for seats in (-1, 0, 1, title.seats.start - 1, title.seats.stop, 10**9):
        with pytest.raises(OptionInvalid, match="seats"):
            Ruleset(title).read_options(b"{}", seats)


@each_setting
def test_a_match_ends_and_nobody_may_move_after_it(setting):
    playout = match_of(setting)
    title = setting.title
    for ply in playout.plies:
        assert title.outcome(ply.before) is None
        assert ply.seat in title.to_act(ply.before)
    outcome = title.outcome(playout.last)
    assert outcome is not None
    assert title.to_act(playout.last) == frozenset()
    assert all(not list(title.legal_moves(playout.last, seat)) for seat in range(setting.seats))
    assert outcome.winners
    assert set(outcome.winners) <= set(range(setting.seats))
    assert outcome.scores is None or len(outcome.scores) == setting.seats
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", outcome.reason)


@each_setting
def test_recorded_luck_gives_the_same_positions(setting):
    playout = match_of(setting)
    title = setting.title
    chance = Recorded(msgspec.json.decode(msgspec.json.encode(playout.luck)))
    state = title.setup(setting.rules.read_options(setting.options, setting.seats), setting.seats, chance)
    assert chance.spent
    assert title.canonical(state) == title.canonical(playout.first)
    for ply in playout.plies:
        chance = Recorded(ply.luck)
        state = title.apply(state, ply.seat, ply.move, chance)
        assert chance.spent
        assert title.canonical(state) == title.canonical(ply.after)


@each_setting
def test_applying_a_move_changes_no_earlier_position(setting):
    playout = match_of(setting)
    canonical = setting.title.canonical
    before = [canonical(ply.before) for ply in playout.plies]
    for ply in playout.plies:
        setting.title.apply(ply.before, ply.seat, ply.move, Recorded(ply.luck))
    assert [canonical(ply.before) for ply in playout.plies] == before


@each_title
def test_matches_are_the_same_in_every_process_and_under_every_hash_seed(slug):
    chosen = [setting for setting in settings() if setting.slug == slug]
    program = (
        "import sys; from tests.titles.found import settings, play;"
        "from tests.titles.test_conformance import fingerprint;"
        f"print([fingerprint(play(s, 3, 60)) for s in settings() if s.slug == {slug!r}])"
    )
    here = str([fingerprint(play(setting, 3, 60)) for setting in chosen])
    for hash_seed in ("1", "2"):
        there = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert there.stdout.strip() == here


@each_setting
def test_views_and_moves_match_their_schemas(setting):
    schemas = setting.rules.schemas
    defs = {"$defs": schemas["$defs"]}
    view_schema = Draft202012Validator({**schemas["view"], **defs})
    move_schema = Draft202012Validator({**schemas["move"], **defs})
    for ply in sampled(match_of(setting)):
        move_schema.validate(json.loads(msgspec.json.encode(ply.move)))
        for viewer in (None, *range(setting.seats)):
            view_schema.validate(json.loads(msgspec.json.encode(setting.title.view(ply.after, viewer))))


@each_setting
def test_a_move_read_from_json_is_the_move(setting):
    rules = setting.rules
    for ply in match_of(setting).plies:
        assert rules.read_move(rules.write(ply.move)) == ply.move


@each_setting
def test_every_legal_move_is_listed_once_in_a_fixed_order_and_accepted(setting):
    title = setting.title
    for ply in sampled(match_of(setting), most=8):
        listed = list(title.legal_moves(ply.before, ply.seat))
        encoded = [msgspec.json.encode(move) for move in listed]
        assert len(set(encoded)) == len(encoded)
        assert [msgspec.json.encode(move) for move in title.legal_moves(ply.before, ply.seat)] == encoded
        for move in random.Random(1).sample(listed, min(len(listed), 40)):
            title.apply(ply.before, ply.seat, move, Rolling(b"k" * 32, 0))


@each_setting
def test_nobody_who_may_not_act_has_legal_moves(setting):
    title = setting.title
    for ply in sampled(match_of(setting)):
        idle = set(range(setting.seats)) - title.to_act(ply.before)
        assert all(not list(title.legal_moves(ply.before, seat)) for seat in idle)


@each_setting
def test_notation_reads_back_to_the_same_move(setting):
    title = setting.title
    for ply in sampled(match_of(setting), most=8):
        listed = list(title.legal_moves(ply.before, ply.seat))
        for move in (ply.move, *random.Random(2).sample(listed, min(len(listed), 60))):
            text = title.notation(move)
            assert title.parse(text) == move
            assert len(text) <= 120


@each_title
def test_any_other_text_is_unreadable_notation(slug):
    title = title_of(slug)
    rng = random.Random(3)
    genuine = [title.notation(ply.move) for ply in play(settings_of(slug)[0], 4, 40).plies]
    for _ in range(3_000):
        text = _garbled(rng, rng.choice(genuine))
        try:
            move = title.parse(text)
        except MoveUnreadable:
            continue
        assert title.parse(title.notation(move)) == move


@each_title
def test_random_bytes_are_an_unreadable_move(slug):
    rules = Ruleset(title_of(slug))
    rng = random.Random(5)
    genuine = [bytes(rules.write(ply.move)) for ply in play(settings_of(slug)[0], 4, 40).plies]
    for _ in range(3_000):
        raw = bytearray(rng.choice(genuine))
        for _ in range(rng.randrange(1, 4)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        with contextlib.suppress(MoveUnreadable):
            rules.read_move(bytes(raw))


@each_setting
def test_a_refusal_names_a_documented_rule_and_nothing_else_is_raised(setting):
    title, rules = setting.title, setting.rules
    rng = random.Random(6)
    refused = 0
    plies = match_of(setting).plies
    for _ in range(1_500):
        ply, other = rng.choice(plies), rng.choice(plies)
        value = _altered(rng, json.loads(bytes(rules.write(other.move))))
        try:
            move = rules.read_move(json.dumps(value).encode())
        except MoveUnreadable:
            continue
        try:
            title.apply(ply.before, ply.seat, move, Rolling(b"k" * 32, 0))
        except MoveIllegal as error:
            refused += 1
            assert error.rule in title.rules
            assert error.detail
        else:
            assert any(move == legal for legal in title.legal_moves(ply.before, ply.seat)) or _same(
                title, ply, move
            )
    assert refused > 100


@each_setting
def test_every_view_has_a_text_board(setting):
    title = setting.title
    for ply in sampled(match_of(setting)):
        for viewer in (None, *range(setting.seats)):
            board = title.render(title.view(ply.after, viewer))
            assert board.strip()
            assert max(map(len, board.splitlines())) <= 160


@each_setting
def test_a_redacted_move_is_a_move_or_nothing(setting):
    title, rules = setting.title, setting.rules
    for ply in sampled(match_of(setting)):
        for viewer in (None, *range(setting.seats)):
            shown = title.redact(ply.move, ply.seat, viewer)
            assert shown is None or rules.read_move(rules.write(shown)) == shown
        assert title.redact(ply.move, ply.seat, ply.seat) == ply.move


def settings_of(slug):
    return [setting for setting in settings() if setting.slug == slug]


def _same(title, ply, move):
    """Whether an accepted move that is not listed leads where a listed one does: another spelling of it."""
    after = title.canonical(title.apply(ply.before, ply.seat, move, Rolling(b"k" * 32, 0)))
    return any(
        title.canonical(title.apply(ply.before, ply.seat, listed, Rolling(b"k" * 32, 0))) == after
        for listed in title.legal_moves(ply.before, ply.seat)
    )


def _garbled(rng, text):
    letters = list(text)
    for _ in range(rng.randrange(1, 4)):
        kind = rng.randrange(3)
        at = rng.randrange(len(letters) + 1)
        if kind == 0 and letters:
            letters.pop(min(at, len(letters) - 1))
        elif kind == 1:
            letters.insert(at, rng.choice("0123456789-+,.:;>x abzGAW\n\0²é/\\\"'"))
        elif letters:
            letters[min(at, len(letters) - 1)] = chr(rng.choice((rng.randrange(128), rng.randrange(0x2FFF))))
    return "".join(letters)


def _altered(rng, value):
    """`value` with, mostly, one leaf replaced by something of the same type or by something odd."""
    if isinstance(value, dict):
        if not value:
            return {"x": 0}
        name = rng.choice(list(value))
        return {**value, name: _altered(rng, value[name])}
    if isinstance(value, list):
        if not value or rng.random() < 0.2:
            return [*value, *value][: rng.randrange(4)]
        at = rng.randrange(len(value))
        return [_altered(rng, item) if n == at else item for n, item in enumerate(value)]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice((value + 1, value - 1, -value, rng.randrange(-3, 12), 10**18, -(2**63)))
    return rng.choice((value, value[::-1], "", "x" * 50, value[:-1]))
