"""Which workers are told whom to push to, and where pushes go."""

from collections.abc import Iterable

import pytest
from waystation.rules.v1 import rules_pb2 as pb

from gateway.pushes import Audience, Pushes
from services.core.ids import MatchId, Slug

MAKE_WAY, WAYFARE = Slug("make_way"), Slug("wayfare")


class Told:
    """A worker that keeps what it was told last of each audience."""

    def __init__(self) -> None:
        self.is_closed = False
        self.followed: dict[Audience, bool] = {}

    def follow(self, audiences: Iterable[Audience]) -> None:
        self.followed |= dict.fromkeys(audiences, True)

    def unfollow(self, audience: Audience) -> None:
        self.followed[audience] = False


class Heard(list[tuple[int, bytes]]):
    def heed(self, version: int, happened: bytes) -> None:
        self.append((version, happened))


def audience(match: str, seat: int | None = None, title: Slug = MAKE_WAY) -> Audience:
    return Audience(title, MatchId(match), seat)


def push(match: str, version: int, seat: int | None = None) -> pb.Push:
    return pb.Push(match=match, seat=seat, version=version, happened=b"{}")


@pytest.fixture
def pushes() -> Pushes:
    return Pushes()


def test_all_workers_of_the_title_are_told_and_no_others(pushes: Pushes) -> None:
    first, second, other = Told(), Told(), Told()
    for title, worker in ((MAKE_WAY, first), (MAKE_WAY, second), (WAYFARE, other)):
        pushes.join(title, worker)
    pushes.follow(audience("m"), Heard().heed)
    assert first.followed == second.followed == {audience("m"): True}
    pushes.unfollow(audience("m"))
    assert first.followed == second.followed == {audience("m"): False}
    assert other.followed == {}


def test_a_worker_that_joins_is_told_what_is_followed_and_the_heads_are_looked_at(pushes: Pushes) -> None:
    looked = []
    pushes.on_worker = lambda: looked.append("at heads")
    pushes.join(MAKE_WAY, Told())
    assert not looked  # nothing can have been missed
    pushes.follow(audience("m"), Heard().heed)
    pushes.follow(audience("m", 1), Heard().heed)
    worker = Told()
    pushes.join(MAKE_WAY, worker)
    assert worker.followed == {audience("m"): True, audience("m", 1): True}
    assert looked == ["at heads"]


def test_a_worker_that_is_gone_is_told_nothing_more_once_another_joins(pushes: Pushes) -> None:
    gone = Told()
    pushes.join(MAKE_WAY, gone)
    gone.is_closed = True
    pushes.join(MAKE_WAY, Told())
    pushes.follow(audience("m"), Heard().heed)
    assert not gone.followed


def test_a_push_reaches_its_audience_alone(pushes: Pushes) -> None:
    seat, spectators = Heard(), Heard()
    pushes.follow(audience("m", 0), seat.heed)
    pushes.follow(audience("m"), spectators.heed)
    pushes.heed(push("m", 5, seat=0))
    pushes.heed(push("m", 6))
    pushes.heed(push("m", 7, seat=1))
    pushes.heed(push("other", 8))
    assert (seat, spectators) == ([(5, b"{}")], [(6, b"{}")])
    pushes.unfollow(audience("m", 0))
    pushes.heed(push("m", 9, seat=0))
    assert seat == [(5, b"{}")]


def test_titles_are_those_of_which_something_is_followed(pushes: Pushes) -> None:
    followed = [audience("m"), audience("m", 0), audience("w", title=WAYFARE)]
    for each in followed:
        pushes.follow(each, Heard().heed)
    assert sorted(pushes.titles) == [MAKE_WAY, WAYFARE]
    assert pushes.has_new_title.is_set()
    for each in followed[1:]:
        pushes.unfollow(each)
    assert pushes.titles == [MAKE_WAY]
