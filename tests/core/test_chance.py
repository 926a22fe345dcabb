from collections import Counter

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from services.core.chance import LuckMismatch, Recorded, Rolling, luck_key

KEY = b"k" * 32


def test_recorded_luck_answers_as_rolling_did():
    rolling = Rolling(KEY, 0)
    rolled = (rolling.shuffle("abcdef"), rolling.below(7), rolling.draw(range(30), 3), rolling.draw("", 0))
    recorded = Recorded(rolling.outcomes)
    again = (recorded.shuffle("abcdef"), recorded.below(7), recorded.draw(range(30), 3), recorded.draw("", 0))
    assert again == rolled
    assert recorded.spent


def test_an_outcome_depends_on_its_ordinal_and_on_nothing_before_it():
    first = Rolling(KEY, 0)
    first.shuffle(range(50))
    assert first.below(1000) == Rolling(KEY, 1).below(1000)


def test_another_key_gives_other_luck():
    assert Rolling(KEY, 0).shuffle(range(50)) != Rolling(b"q" * 32, 0).shuffle(range(50))


def test_numbers_below_six_are_fair():
    counts = Counter(Rolling(KEY, n).below(6) for n in range(12_000))
    assert sorted(counts) == list(range(6))
    # 6 standard deviations of a binomial with n = 12,000 and p = 1/6 are 245.
    assert all(abs(count - 2_000) < 245 for count in counts.values())


def test_every_order_of_three_is_equally_likely():
    counts = Counter("".join(Rolling(KEY, n).shuffle("abc")) for n in range(12_000))
    assert len(counts) == 6
    assert all(abs(count - 2_000) < 245 for count in counts.values())


def test_a_draw_takes_each_item_at_most_once_and_leaves_the_bag_alone():
    bag = list(range(10))
    drawn = Rolling(KEY, 0).draw(bag, 10)
    assert sorted(drawn) == bag == list(range(10))


def test_more_cannot_be_drawn_than_there_is():
    with pytest.raises(ValueError, match="cannot draw 4 of 3"):
        Rolling(KEY, 0).draw("abc", 4)


@pytest.mark.parametrize(
    ("outcomes", "ask"),
    [
        ([], lambda chance: chance.below(2)),
        ([2], lambda chance: chance.below(2)),
        ([-1], lambda chance: chance.below(2)),
        ([[0]], lambda chance: chance.below(2)),
        ([1], lambda chance: chance.shuffle("ab")),
        ([[0, 0]], lambda chance: chance.shuffle("ab")),
        ([[0, 2]], lambda chance: chance.shuffle("ab")),
        ([[0, -1]], lambda chance: chance.shuffle("ab")),
        ([[0]], lambda chance: chance.draw("ab", 2)),
    ],
)
def test_luck_that_does_not_fit_the_question_is_refused(outcomes, ask):
    with pytest.raises(LuckMismatch):
        ask(Recorded(outcomes))


def test_the_luck_key_is_hkdf_of_the_seed_bound_to_match_and_nonces():
    info = b"\0\0\0\x01m" + b"\0\0\0\x02aa" + b"\0\0\0\0"
    hkdf = HKDF(SHA256(), 32, salt=b"waystation/luck/v1", info=info)
    assert luck_key(b"s" * 32, "m", ["aa", ""]) == hkdf.derive(b"s" * 32)


def test_moving_a_letter_between_nonces_changes_the_key():
    assert luck_key(b"s" * 32, "m", ["ab", "c"]) != luck_key(b"s" * 32, "m", ["a", "bc"])
