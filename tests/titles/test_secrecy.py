"""What a viewer may not know makes no difference to anything the viewer is told, in any title.

For each position there is a twin that looks the same to one viewer, and for each match one under another
seed that shares all that this viewer may know. Whatever leaves the core must be the same, byte by byte.
"""

from itertools import chain
from random import Random

import pytest

from tests.titles.secrecy import attempts, leaks_between, next_moves, told, told_of_event, twin_match
from tests.titles.secrecy_cases import cases, one_case_a_title
from tests.titles.secrecy_leaks import EYES_IN_CORE, IN_CORE, OF_HANDS, OF_SECRETS
from tests.titles.secrecy_lines import line_of, random_score, twin_lines

HIDING = [case for case in one_case_a_title() if case.twins.HIDES]
OPEN = [case for case in one_case_a_title() if not case.twins.HIDES]

each_case = pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
each_hiding_case = pytest.mark.parametrize(
    "case", [case for case in cases() if case.twins.HIDES], ids=lambda case: case.name
)


def whole_line(case, seed):
    """A random match to its last position but one, and moves to try in it."""
    rng = Random(seed)
    score = random_score(case, rng, plies=100_000)
    return line_of(case, score, None, rng), attempts(case, [played.move for played in score.played], rng, 24)


def sampled(line, most=10):
    """Up to `most` versions of a match, spread evenly."""
    step = max(1, len(line.decisions) // most)
    return [decision.match for decision in line.decisions[::step][:most]]


def leaks_at_twin_positions(case, seed=1):
    """What a viewer is told differently at a position and its twin, or after one move more."""
    rng = Random(seed)
    line, moves = whole_line(case, seed)
    for match in sampled(line):
        for viewer in case.viewers:
            twin = twin_match(case, match, viewer, rng)
            yield from leaks_between(told(match, viewer, moves), told(twin, viewer, moves))
            for shared in next_moves(case, match, twin, viewer, 3, rng):
                yield from shared.leaks


def leaks_in_twin_lines(case, viewer, seed=1):
    """What `viewer` is told differently at any version of two matches that look the same."""
    one, other = twin_lines(case, viewer, Random(seed))
    for here, there in zip(one.decisions, other.decisions, strict=True):
        yield from leaks_between(told_of_event(here, viewer), told_of_event(there, viewer))
        yield from leaks_between(told(here.match, viewer, []), told(there.match, viewer, []))


@each_case
def test_a_viewer_is_told_the_same_at_positions_that_differ_in_what_is_hidden(case):
    assert list(leaks_at_twin_positions(case)) == []


@each_case
def test_a_viewer_is_told_the_same_all_through_matches_that_differ_in_what_is_hidden(case):
    for viewer in case.viewers:
        assert list(leaks_in_twin_lines(case, viewer)) == []


@each_hiding_case
def test_a_twin_looks_the_same_to_its_viewer_and_every_secret_differs(case):
    rng = Random(2)
    line, _ = whole_line(case, seed=2)
    for viewer in case.viewers:
        unchanged = set(case.twins.SECRETS)
        for match in sampled(line):
            twin = case.twins.twin(match.state, viewer, rng)
            assert case.twins.known(twin, viewer) == case.twins.known(match.state, viewer)
            unchanged -= {
                name for name, secret in case.twins.SECRETS.items() if secret(twin) != secret(match.state)
            }
        assert unchanged == set()


@pytest.mark.parametrize("case", HIDING, ids=lambda case: case.title.slug)
def test_matches_that_look_the_same_differ_at_most_versions(case):
    for viewer in case.viewers:
        pairs = []
        for seed in (1, 2, 3):
            one, other = twin_lines(case, viewer, Random(seed))
            assert one.seed != other.seed
            assert one.match.head != other.match.head
            pairs += [
                (here.match.state, there.match.state)
                for here, there in zip(one.decisions, other.decisions, strict=True)
            ]
        assert sum(here != there for here, there in pairs) > len(pairs) / 2
        assert all(case.twins.known(here, viewer) == case.twins.known(there, viewer) for here, there in pairs)


@each_hiding_case
def test_what_follows_a_twin_position_is_compared_and_not_skipped(case):
    rng = Random(4)
    line, _ = whole_line(case, seed=4)
    shared = [
        move
        for match in sampled(line)
        for viewer in case.viewers
        for move in next_moves(case, match, twin_match(case, match, viewer, rng), viewer, 3, rng)
    ]
    assert len(shared) > len(case.viewers)
    if case.title.slug != "high_card":  # there every move draws a card, or plays one of two
        assert sum(move.alike for move in shared) > len(shared) / 2


@each_hiding_case
def test_illegal_moves_are_among_what_is_tried(case):
    line, moves = whole_line(case, seed=5)
    answers = [
        text
        for match in sampled(line)
        for viewer in match.to_act
        for name, text in told(match, viewer, moves).items()
        if name.startswith("answer to")
    ]
    assert sum(text.startswith(b"MOVE_ILLEGAL") for text in answers) > len(answers) / 3


@pytest.mark.parametrize("case", OPEN, ids=lambda case: case.name)
def test_a_title_said_to_hide_nothing_shows_the_whole_position_to_everybody(case):
    """Equal views then mean equal positions: no two positions of a match are shown alike."""
    line, _ = whole_line(case, seed=6)
    states = [decision.match.state for decision in line.decisions]
    for viewer in case.viewers:
        views = {repr(case.title.view(state, viewer)) for state in states}
        assert len(views) == len(states)
        assert views == {repr(case.title.view(state, None)) for state in states}
        for state in states:
            assert case.twins.twin(state, viewer, Random(1)) == state


@pytest.mark.parametrize("leak", OF_SECRETS)
@pytest.mark.parametrize(
    ("case", "secret"),
    [(case, secret) for case in HIDING for secret in case.twins.SECRETS],
    ids=lambda value: value if isinstance(value, str) else value.title.slug,
)
def test_every_secret_is_found_out_whichever_way_it_leaks(case, secret, leak):
    leaky = case._replace(title=leak(case.title, case.twins.SECRETS[secret]))
    assert any(leaks_at_twin_positions(leaky))


@pytest.mark.parametrize("leak", OF_HANDS)
@pytest.mark.parametrize("case", HIDING, ids=lambda case: case.title.slug)
def test_a_look_at_another_hand_is_found_out(case, leak):
    leaky = case._replace(title=leak(case.title))
    assert any(leaks_at_twin_positions(leaky))


@pytest.mark.parametrize("leak", [*IN_CORE, EYES_IN_CORE], ids=lambda leak: leak.name)
@pytest.mark.parametrize("case", HIDING, ids=lambda case: case.title.slug)
def test_what_the_core_would_give_away_is_found_out(case, leak):
    with leak.applied():
        in_lines = chain.from_iterable(leaks_in_twin_lines(case, viewer) for viewer in case.viewers)
        assert any(chain(leaks_at_twin_positions(case), in_lines))
