import itertools

from services.core.ids import MatchId
from services.projection.lists import lists_of
from services.projection.summary import folded
from tests.projection.published import gathered, played

M = MatchId("m")


def fold(events, summary=None):
    for event in events:
        summary = folded(summary, event)
    return summary


def test_a_table_is_open_until_its_match_begins_and_over_at_its_end():
    table, match = gathered(M), played(M)
    summary = fold(table)
    assert summary.status == "open"
    summary = fold(match[:1], summary)
    assert summary.status == "running"
    summary = fold(match[1:], summary)
    assert summary.status == "over"
    assert summary.play.cursor.version == len(match)
    assert summary.play.outcome.reason == "most_points"


def test_either_stream_may_come_first():
    table, match = gathered(M), played(M)
    assert fold([*table, *match]) == fold([*match, *table])


def test_players_come_and_go_by_seat():
    joined = fold(gathered(M, sealed=False))
    assert joined.table.players == ("ann", "bob")


def test_a_public_match_is_in_the_public_lists_and_in_those_of_its_players():
    lists = lists_of(fold(gathered(M, at=1_000)))
    audiences = ("public", "own:ann", "own:bob", "shown:ann", "shown:bob")
    expected = {
        f"{title}|{status}|{audience}"
        for title, status, audience in itertools.product(("high_card", "*"), ("open", "*"), audiences)
    }
    assert set(lists) == expected
    assert set(lists.values()) == {1_000}


def test_a_private_match_is_in_its_players_own_lists_only():
    lists = lists_of(fold(gathered(M, private=True)))
    assert {name.rpartition("|")[2] for name in lists} == {"own:ann", "own:bob"}
