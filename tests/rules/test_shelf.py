import pytest
from msgspec.structs import replace

from services.kit.cache import Room
from services.rules.shelf import Shelf
from tests.core.matches import Table
from tests.waiting import until

MATCH = Table().match
TWO = Room(values=2, bytes=1 << 30)


def named(id, version=1):
    return replace(MATCH, id=id, version=version)


def test_the_match_unused_for_longest_makes_room():
    shelf = Shelf(TWO)
    shelf.keep(named("a"))
    shelf.keep(named("b"))
    shelf.find("a")
    shelf.keep(named("c"))
    assert [shelf.find(id) is not None for id in "abc"] == [True, False, True]


def test_a_reader_that_was_overtaken_does_not_put_an_older_version_back():
    shelf = Shelf(TWO)
    shelf.keep(named("a", version=5))
    shelf.keep(named("a", version=4))
    assert shelf.find("a").version == 5


def test_a_dropped_match_may_come_back_at_a_lower_version():
    shelf = Shelf(TWO)
    shelf.keep(named("a", version=5))
    shelf.drop("a")
    shelf.keep(named("a", version=3))
    assert shelf.find("a").version == 3


@pytest.mark.anyio
async def test_a_started_shelf_forgets_what_nobody_asks_for_and_gives_its_memory_back():
    shelf = Shelf(Room(values=10, bytes=1 << 30, idle_s=0.05))
    shelf.start()
    for id in "abc":
        shelf.keep(named(id))
    await until(lambda: not len(shelf))
    await shelf.stop()
    assert shelf.weight == 0


def test_heavy_matches_make_room_though_they_are_few():
    one = Shelf(Room(values=10, bytes=1 << 30))
    one.keep(named("a"))
    shelf = Shelf(Room(values=10, bytes=2 * one.weight))
    for id in "abcd":
        shelf.keep(named(id))
    assert [shelf.find(id) is not None for id in "abcd"] == [False, False, True, True]
