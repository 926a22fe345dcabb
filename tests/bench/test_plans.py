"""The plans: their names, how they are chosen, and what those have in common that are compared."""

import random
from collections import Counter

import pytest
from msgspec.structs import replace

from bench import plans
from bench.plans import LONG, SPAN, WARM, Plan
from bench.playouts import playout
from services.titles import a_way

KINDS = [plans.quick, plans.full, plans.scaling, plans.idle]
ONE = Plan(title="make_way", seconds=1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_no_two_plans_of_a_kind_have_the_same_name_and_fsync_mode(kind):
    named = Counter((plan.name, plan.fsync) for plan in kind(1.0))
    assert max(named.values()) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_every_plan_lasts_as_long_as_is_asked(kind):
    assert {plan.seconds for plan in kind(2.5)} == {2.5}


def test_whatever_tells_two_plans_apart_is_in_the_name():
    changes = [
        {"title": "wayfare"},
        {"transport": "http"},
        {"matches": 200},
        {"rate": 300},
        {"workers": 2},
        {"gateways": 2},
        {"first": 1},
        {"first": 200},
        {"idle": 0},
        {"idle": 5_000},
    ]
    names = {replace(ONE, **change).name for change in changes}
    assert len(names - {ONE.name}) == len(changes)


def test_a_word_chooses_the_plans_that_have_it_in_their_name():
    found = plans.chosen(plans.quick(1.0), "wayfare ws")
    assert [plan.name for plan in found] == ["wayfare ws closed 100"]


def test_a_fsync_mode_chooses_its_plans():
    found = plans.chosen(plans.full(1.0), "always")
    assert {plan.fsync for plan in found} == {"always"}


def test_no_word_chooses_all_and_an_unknown_one_none():
    assert plans.chosen(plans.scaling(1.0), "") == plans.scaling(1.0)
    assert plans.chosen(plans.scaling(1.0), "chess") == []


@pytest.mark.parametrize(("part", "numbers"), [("workers", (2, 4)), ("gateways", (2, 3))])
def test_scaling_gives_more_processes_the_same_load_and_as_much_each(part, numbers):
    closed = [plan for plan in plans.scaling(1.0) if not plan.rate and not plan.first]
    single = next(plan for plan in closed if plan.workers == plan.gateways == 1)
    for number in numbers:
        scaled = replace(single, **{part: number})
        assert scaled in closed
        assert replace(scaled, matches=single.matches * number) in closed


def test_long_matches_are_compared_that_differ_in_the_first_move_timed_only():
    early, late = [plan for plan in plans.scaling(1.0) if plan.first]
    assert (early.first, late.first) == (1, 200)
    assert replace(late, first=1) == early
    assert early.until - early.before == late.until - late.before == SPAN


def test_a_long_match_is_long_enough_for_all_its_moves():
    late = replace(ONE, first=200)
    assert (late.before, late.until) == (199, 259)
    assert late.takes(LONG)
    assert not late.takes(LONG - 1)
    assert late.until <= LONG <= late.moves_max


def test_matches_of_any_length_are_played_to_their_end_once_they_are_warm():
    assert ONE.before == WARM
    assert ONE.takes(WARM)
    assert not ONE.takes(WARM - 1)
    assert ONE.until == ONE.moves_max > 1_000


@pytest.mark.slow
def test_random_play_of_the_long_title_is_often_long():
    (title,) = {plan.title for plan in plans.scaling(1.0) if plan.first}
    assert title == a_way.__name__.rpartition(".")[2]
    rules = a_way.VERSIONS[max(a_way.VERSIONS)]
    rng = random.Random(1)
    lengths = [playout(rules, rules.Options(), 2, rng) for _ in range(12)]
    assert sum(length >= LONG for length in lengths) >= 4


def test_a_full_run_plays_the_same_with_both_fsync_modes():
    every = plans.full(1.0)
    everysec = [plan for plan in every if plan.fsync == "everysec"]
    assert {plan.transport for plan in everysec} == {"ws", "http"}
    assert [plan for plan in every if plan.fsync == "always"] == [
        replace(plan, fsync="always") for plan in everysec
    ]
