"""Chains: what Unknown Fate and Scrap Yard bring up, what fizzles, and where the cards end."""

from services.titles.a_way.components import CARDS
from services.titles.a_way.state import State
from tests.titles.a_way.positions import TITLE, Reversing, ids, legal, numbers, play, position, refused, sky


def told(state: State) -> list[tuple[str, str | None]]:
    return [(notice.kind, notice.card) for notice in state.notices]


def test_unknown_fate_reveals_the_top_card_and_waits_for_its_parameters() -> None:
    state = play(position(hand="A1-unknown_fate E1P1", draw="E3P1 E3P3"), "play A1-unknown_fate")
    assert (state.phase, state.pending) == ("resolve", *numbers("E3P1"))
    assert ids(state.resolving) == "A1-unknown_fate"
    assert told(state) == [("revealed", "E3P1")]
    assert refused(state, "play E1P1 0,1 r0") == "phase-allows-move"
    assert refused(state, "resolve S9.se") == "params-fit-card"
    assert refused(state, "resolve 9,9 r0") == "cell-touches-card"


def test_a_revealed_exploration_card_stays_on_the_map() -> None:
    state = play(
        position(hand="A1-unknown_fate", draw="E3P1", discard="E2P2"),
        "play A1-unknown_fate",
        "resolve 0,1 r0",
    )
    assert ids(state.discard) == "E2P2 A1-unknown_fate"
    assert (state.phase, state.pending, state.resolving) == ("playing", None, ())


def test_a_card_that_cannot_be_carried_out_fizzles_and_still_switches_the_faction() -> None:
    state = play(
        position(hand="A1-unknown_fate A3-magnetic_field", draw="A3-hyperdrive"), "play A1-unknown_fate"
    )
    assert (state.phase, state.faction) == ("playing", 3)
    assert told(state) == [("revealed", "A3-hyperdrive"), ("fizzled", "A3-hyperdrive")]
    assert ids(state.discard[-2:]) == "A1-unknown_fate A3-hyperdrive"


def test_unknown_fate_may_reveal_unknown_fate_and_scrap_yard() -> None:
    state = position(
        hand="A1-unknown_fate", draw="A2-unknown_fate A3-scrap_yard E1P1", discard="E2P2 A4-magnetic_field"
    )
    chained = play(state, "play A1-unknown_fate")
    assert told(chained) == [
        ("revealed", "A2-unknown_fate"),
        ("revealed", "A3-scrap_yard"),
        ("fetched", "A4-magnetic_field"),
    ]
    after = play(chained, "resolve S1 r1")
    assert ids(after.discard) == "E2P2 A1-unknown_fate A2-unknown_fate A3-scrap_yard A4-magnetic_field"
    assert (after.faction, ids(after.draw_pile)) == (4, "E1P1")


def test_scrap_yard_never_finds_a_card_of_its_own_chain() -> None:
    state = play(position(hand="A1-scrap_yard", discard="A2-scrap_yard"), "play A1-scrap_yard")
    assert told(state) == [("fetched", "A2-scrap_yard"), ("fizzled", "A2-scrap_yard")]
    assert ids(state.discard) == "A1-scrap_yard A2-scrap_yard"


def test_scrap_yard_as_a_second_card_may_fetch_the_card_played_just_before() -> None:
    state = play(
        position(hand="A1-magnetic_field A1-scrap_yard"), "play A1-magnetic_field S5 r1", "play A1-scrap_yard"
    )
    assert state.pending == numbers("A1-magnetic_field")[0]
    assert ids(play(state, "resolve S5 r2").discard[-2:]) == "A1-scrap_yard A1-magnetic_field"


def test_scrap_yard_may_fetch_an_exploration_card() -> None:
    state = play(position(hand="A1-scrap_yard", discard="E4P8"), "play A1-scrap_yard", "resolve 2,1 r1")
    assert ids(state.discard) == "A1-scrap_yard"
    assert numbers("E4P8")[0] in state.sky.places


def test_unknown_fate_renews_an_empty_draw_pile_without_the_chain() -> None:
    luck = Reversing(0)
    state = position(hand="A1-unknown_fate", draw="", discard="E2P2 E1P1 E3P1")
    revealed = play(state, "play A1-unknown_fate", luck=luck)
    assert luck.asked == ["shuffle 2"]
    assert (ids(revealed.draw_pile), ids(revealed.discard)) == ("E2P2", "E3P1")
    assert told(revealed) == [("pile_renewed", None), ("revealed", "E1P1")]


def test_unknown_fate_needs_a_card_to_draw() -> None:
    state = position(hand="A1-unknown_fate", draw="", discard="E2P2")
    assert refused(state, "play A1-unknown_fate") == "card-can-be-drawn"
    assert legal(state, "play") == []


def test_unknown_fate_that_is_fetched_with_nothing_to_draw_fizzles() -> None:
    state = play(position(hand="A1-scrap_yard", draw="", discard="A2-unknown_fate"), "play A1-scrap_yard")
    assert told(state) == [("fetched", "A2-unknown_fate"), ("fizzled", "A2-unknown_fate")]
    assert (state.phase, state.faction) == ("playing", 2)


def test_scrap_yard_needs_a_card_on_the_discard_pile() -> None:
    assert refused(position(hand="A1-scrap_yard", discard=""), "play A1-scrap_yard") == "pile-holds-card"


def test_a_black_hole_in_a_chain_discards_below_the_chain() -> None:
    state = position(
        "S9.nw", hand="A1-unknown_fate", draw="A2-black_hole", discard="E2P2", on=sky(E1P1=(1, 1, 0))
    )
    after = play(state, "play A1-unknown_fate", "resolve col 1")
    assert ids(after.discard) == "E2P2 E1P1 A1-unknown_fate A2-black_hole"


def test_an_arrival_by_a_card_that_was_brought_up_ends_the_turn() -> None:
    state = position("S1.sw", hand="A1-unknown_fate", draw="A1-hyperdrive E1P1")
    after = play(state, "play A1-unknown_fate", "resolve W", luck=Reversing(0))
    assert (after.turn, after.arrivals, after.resolving) == (1, (0,), ())


def test_the_view_names_the_pending_card_and_what_brought_it_up() -> None:
    revealed = TITLE.view(play(position(hand="A1-unknown_fate", draw="E3P1"), "play A1-unknown_fate"), None)
    assert (revealed.pending.card.id, revealed.pending.source) == ("E3P1", "unknown_fate")
    fetched = TITLE.view(play(position(hand="A1-scrap_yard", discard="E3P1"), "play A1-scrap_yard"), None)
    assert (fetched.pending.card.id, fetched.pending.source) == ("E3P1", "scrap_yard")
    assert fetched.pending.card.face.name == CARDS[numbers("E3P1")[0]].name
