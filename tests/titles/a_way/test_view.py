"""The view and its text: enough to draw the whole game from."""

import msgspec
from jsonschema import Draft202012Validator

from services.titles.a_way.view import View
from tests.titles.a_way.positions import TITLE, play, playout, position, sky


def test_the_first_view_shows_map_bases_ships_and_piles() -> None:
    view = TITLE.view(position(hand="E2P8", draw="E2P2 E2P4", discard="E1P7 E1P9"), 0)
    assert [(laid.id, laid.cell, laid.rot) for laid in view.map] == [
        (card, (x, 0), 0) for x, card in enumerate(("S1", "S3", "S5", "S7", "S9"))
    ]
    assert (view.map[1].face.arrow, view.map[1].face.stations) == ("cw", ("n", "e", "s", "w"))
    assert [(base.name, base.cell, base.home_of) for base in view.bases] == [
        ("E", (5, 0), 1),
        ("W", (-1, 0), 0),
    ]
    assert [(ship.at.base, ship.cell, ship.home, ship.movements_home) for ship in view.ships] == [
        ("E", (5, 0), "W", 11),
        ("W", (-1, 0), "E", 11),
    ]
    assert (view.draw_pile_size, view.discard, view.hand_sizes) == (2, ("E1P7", "E1P9"), (1, 0))
    assert (view.turn, view.phase, view.round, view.leaders) == (0, "main", 1, (0, 1))


def test_a_card_of_the_hand_shows_its_face() -> None:
    (card,) = TITLE.view(position(hand="E2P8"), 0).hand
    assert (card.id, card.face.name, card.face.faction) == ("E2P8", "Fork", 2)
    assert card.face.tracks == ("N n e E", "N n s S", "E e s S")


def test_the_leader_is_the_last_arrival() -> None:
    state = play(position("S1.sw", "S9.nw"), "fly W")
    assert TITLE.view(state, None).leaders == (0,)
    end = TITLE.view(play(state, "fly E"), None)
    assert (end.leaders, end.arrivals, end.turn, end.phase) == ((1,), (0, 1), None, "over")


def test_removed_solar_cards_are_shown() -> None:
    state = play(position("S9.nw", hand="A2-black_hole"), "play A2-black_hole col 1")
    assert TITLE.view(state, None).removed == ("S3",)


def test_every_struct_of_the_schema_is_described_and_every_field_typed() -> None:
    (_,), parts = msgspec.json.schema_components([View], ref_template="#/$defs/{name}")
    for part in parts.values():
        assert part["description"]
        assert all(part["properties"].values())


def test_views_of_a_whole_match_fit_their_schema() -> None:
    validator = Draft202012Validator(msgspec.json.schema(View))
    for _, _, state in list(playout(3, seed=2))[::9]:
        for seat in (None, 1):
            validator.validate(msgspec.json.decode(msgspec.json.encode(TITLE.view(state, seat))))


def test_the_text_shows_the_map_ships_piles_and_hand() -> None:
    state = position("S3.e", hand="E2P8 A1-hyperdrive", draw="E2P2", discard="E1P9", on=sky(E1P5=(0, 1, 3)))
    assert TITLE.render(TITLE.view(state, 0)).splitlines() == [
        "round 1: seat 0 to act, phase main",
        "       -1      0      1      2      3      4      5",
        "   0  [W]*1  S1/0  S3/0*0  S5/0   S7/0   S9/0    [E]",
        "   1    .   E1P5/3    .      .      .      .      .",
        "seat 0: ship at S3.e, 4 from home W, hand of 2",
        "seat 1: ship at W, 11 from home E, hand of 0",
        "draw pile 1, discard pile 1, top E1P9",
        "hand: E2P8 A1-hyperdrive",
    ]


def test_a_wide_map_is_cut_into_bands() -> None:
    wide = sky(E1P5=(40, 0, 0))
    lines = TITLE.render(TITLE.view(position(on=wide), None)).splitlines()
    assert max(map(len, lines)) <= 120
    assert sum("E1P5/0" in line for line in lines) == 1
    assert sum("S1/0" in line for line in lines) == 1


def test_the_text_tells_the_end() -> None:
    end = play(position("S5.e", "S9.nw", turn=1), "fly E")
    assert TITLE.render(TITLE.view(end, None)).startswith(
        "round 1: over, seats that lead: 1\nseat 1: arrived\n"
    )
