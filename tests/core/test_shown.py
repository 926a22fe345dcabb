import msgspec

from services.core.commands import OfferDraw
from services.core.events import text_of
from services.core.replay import replayed
from services.core.shown import receipt, show_event, show_match
from tests.core.matches import ANN, BOB, MATCH, SEED, T0, Table, ruleset_for


def steps(table):
    return list(replayed(MATCH, SEED, table.entries, ruleset_for))


def test_a_spectator_sees_no_hand_and_a_seat_only_its_own():
    match = Table().moves(2).match
    assert show_match(match, None).view.hand is None
    assert show_match(match, 0).view.hand == match.state.hands[0]


def test_a_running_matchs_events_show_no_luck_no_nonce_no_digest_no_salt():
    table = Table().moves(3)
    for event, match in steps(table):
        shown = msgspec.json.encode(show_event(match, event, 0, over=False))
        for secret in (b"chance", b"nonce", b"digest", b"salt", event.salt.encode(), event.digest.encode()):
            assert secret not in shown


def test_a_finished_matchs_events_show_everything():
    table = Table().moves()
    shown = [msgspec.json.encode(show_event(match, event, None, over=True)) for event, match in steps(table)]
    assert b"chance" in shown[0]
    assert b"nonce of ann" in shown[0]
    assert text_of(SEED).encode() in shown[-1]
    assert all(b"digest" in event and b"salt" in event for event in shown)


def test_a_move_is_shown_with_its_notation():
    table = Table().moves(1)
    event, match = steps(table)[1]
    shown = msgspec.json.decode(msgspec.json.encode(show_event(match, event, 1, over=False)))
    assert shown["notation"] == f"p{shown['data']['move']['card']}"


def test_a_request_id_is_shown_to_its_owner_only():
    table = Table()
    table.does(ANN, OfferDraw(), request_id="mine")
    event, match = steps(table)[1]
    assert show_event(match, event, 0, over=True).request_id == "mine"
    assert show_event(match, event, 1, over=True).request_id == ""
    assert show_event(match, event, None, over=True).request_id == ""


def test_open_offers_are_shown_with_the_version_to_quote():
    table = Table()
    table.does(BOB, OfferDraw(), at=T0 + 5)
    shown = show_match(table.match, 0)
    assert (shown.draw_offer.version, shown.draw_offer.by) == (2, 1)
    assert shown.to_act == (0,)


def test_a_receipt_carries_match_version_head_and_view():
    match = Table().moves(1).match
    encoded = msgspec.json.decode(msgspec.json.encode(receipt(match, b'{"x":1}')))
    assert encoded == {"match": "m1", "version": 2, "head": text_of(match.head), "view": {"x": 1}}
