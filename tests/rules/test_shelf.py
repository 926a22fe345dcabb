from msgspec.structs import replace

from services.rules.shelf import Shelf
from tests.core.matches import Table

MATCH = Table().match


def named(id, version=1):
    return replace(MATCH, id=id, version=version)


def test_the_match_unused_for_longest_makes_room():
    shelf = Shelf(2)
    shelf.keep(named("a"))
    shelf.keep(named("b"))
    shelf.find("a")
    shelf.keep(named("c"))
    assert [shelf.find(id) is not None for id in "abc"] == [True, False, True]


def test_a_reader_that_was_overtaken_does_not_put_an_older_version_back():
    shelf = Shelf(2)
    shelf.keep(named("a", version=5))
    shelf.keep(named("a", version=4))
    assert shelf.find("a").version == 5


def test_a_dropped_match_may_come_back_at_a_lower_version():
    shelf = Shelf(2)
    shelf.keep(named("a", version=5))
    shelf.drop("a")
    shelf.keep(named("a", version=3))
    assert shelf.find("a").version == 3
