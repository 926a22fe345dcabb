import pytest

from services.kit.cache import Cache, Room


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_value_unused_for_longest_makes_room_for_one_too_many():
    cache = Cache(Room(values=2, bytes=100))
    for key in "ab":
        cache.keep(key, key, 1)
    cache.find("a")
    cache.keep("c", "c", 1)
    assert [cache.find(key) for key in "abc"] == ["a", None, "c"]


def test_values_that_weigh_too_much_together_make_room():
    cache = Cache(Room(values=100, bytes=100))
    for key in "abcd":
        cache.keep(key, key, 40)
    assert ([cache.find(key) for key in "abcd"], cache.weight) == ([None, None, "c", "d"], 80)


def test_a_value_heavier_than_all_room_is_kept_alone():
    cache = Cache(Room(values=100, bytes=100))
    cache.keep("a", "a", 1)
    cache.keep("b", "b", 1000)
    assert ([cache.find(key) for key in "ab"], cache.weight) == ([None, "b"], 1000)


@pytest.mark.parametrize("end", ["drop", "replace", "clear"])
def test_the_weight_is_that_of_what_is_kept(end):
    cache = Cache(Room(values=100, bytes=100))
    cache.keep("a", "a", 40)
    cache.keep("b", "b", 7)
    if end == "drop":
        cache.drop("a")
    elif end == "replace":
        cache.keep("a", "a", 3)
    else:
        cache.clear()
    assert (cache.weight, len(cache)) == {"drop": (7, 1), "replace": (10, 2), "clear": (0, 0)}[end]


def test_what_nobody_has_used_for_a_while_is_forgotten_and_nothing_else():
    clock = Clock()
    cache = Cache(Room(values=100, bytes=100, idle_s=10), clock)
    for key in "abc":
        cache.keep(key, key, 1)
    clock.now = 8
    cache.find("b")
    clock.now = 11
    assert cache.forget_idle() == 2
    assert ([cache.find(key) for key in "abc"], cache.weight) == ([None, "b", None], 1)
