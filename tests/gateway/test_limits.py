"""Bounds on what strangers may ask for."""

from contextlib import suppress

import httpx
import pytest

from gateway import limits
from gateway.addresses import Addresses
from gateway.guesses import Guesses
from gateway.limits import Buckets, Held
from gateway.settings import GatewaySettings
from services.core.errors import NoSuchMatch, NotSeated, Overloaded, TooManyRequests
from services.core.ids import PlayerId
from tests.gateway.playing import ADMIN_TOKEN, Start


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_served_and_the_next_request_is_told_how_long_to_wait() -> None:
    buckets = Buckets(rate=0.5, burst=3, clock=Clock())
    for _ in range(3):
        buckets.take("a")
    with pytest.raises(TooManyRequests) as refused:
        buckets.take("a")
    assert refused.value.retry_after_s == 2


def test_a_bucket_fills_with_time_and_never_beyond_its_burst() -> None:
    clock = Clock()
    buckets = Buckets(rate=1, burst=2, clock=clock)
    buckets.take("a", 2)
    clock.now = 1.0
    buckets.take("a")
    clock.now = 1000.0
    buckets.take("a", 2)
    with pytest.raises(TooManyRequests):
        buckets.take("a")


def test_a_refused_request_costs_nothing() -> None:
    clock = Clock()
    buckets = Buckets(rate=1, burst=1, clock=clock)
    buckets.take("a")
    for _ in range(10):
        with pytest.raises(TooManyRequests):
            buckets.take("a")
    clock.now = 1.0
    buckets.take("a")


def test_one_key_does_not_spend_the_tokens_of_another() -> None:
    buckets = Buckets(rate=1, burst=1, clock=Clock())
    buckets.take("a")
    buckets.take("b")


def test_rate_zero_is_no_limit() -> None:
    buckets = Buckets(rate=0, burst=1, clock=Clock())
    for _ in range(100):
        buckets.take("a")


def test_only_the_newest_keys_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "KEYS_MAX", 2)
    buckets = Buckets(rate=1, burst=1, clock=Clock())
    for key in ("a", "b", "c"):
        buckets.take(key)
    buckets.take("a")  # forgotten, and so full again
    with pytest.raises(TooManyRequests):
        buckets.take("c")


def test_a_caller_holds_no_more_than_its_share_and_gives_back() -> None:
    held = Held("things", per_key=1, in_all=2)
    with held.one("a"):
        with pytest.raises(Overloaded), held.one("a"):
            pass
        with held.one("b"), pytest.raises(Overloaded), held.one("c"):
            pass
    with held.one("a"):
        pass


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded_for", "client"),
    [
        ((), "203.0.113.9", "198.51.100.1", "203.0.113.9"),
        (("10.0.0.0/8",), "203.0.113.9", "198.51.100.1", "203.0.113.9"),
        (("10.0.0.0/8",), "10.1.2.3", "198.51.100.1", "198.51.100.1"),
        (("10.0.0.0/8",), "10.1.2.3", "1.1.1.1, 198.51.100.1, 10.9.9.9", "198.51.100.1"),
        (("10.0.0.0/8",), "10.1.2.3", "", "10.1.2.3"),
        (("10.0.0.0/8",), "10.1.2.3", "10.4.4.4", "10.4.4.4"),
        (("::1/128",), "::1", "2001:db8::7", "2001:db8::7"),
    ],
)
def test_a_forwarded_address_counts_only_behind_a_trusted_proxy(
    trusted: tuple[str, ...], peer: str, forwarded_for: str, client: str
) -> None:
    assert Addresses(trusted).client(peer, forwarded_for) == client


ANN = PlayerId("ann")


def guess(guesses: Guesses, address: str, refusal: Exception | None, player: PlayerId | None = ANN) -> None:
    with suppress(NotSeated, NoSuchMatch), guesses.one(address, player):
        if refusal is not None:
            raise refusal


def test_wrong_guesses_run_out_for_the_player_wherever_they_come_from() -> None:
    guesses = Guesses(GatewaySettings(guess_burst_per_player=3, guess_rate_per_player=0.1))
    for number in range(3):
        guess(guesses, f"address {number}", NotSeated())
    with pytest.raises(TooManyRequests) as refused:
        guess(guesses, "another address", None)
    assert refused.value.retry_after_s == 10
    guess(guesses, "address 1", NotSeated(), PlayerId("bob"))


def test_wrong_guesses_run_out_for_the_address_whoever_makes_them() -> None:
    guesses = Guesses(GatewaySettings(guess_burst_per_address=3))
    for number in range(3):
        guess(guesses, "here", NotSeated(), PlayerId(f"player {number}"))
    with pytest.raises(TooManyRequests):
        guess(guesses, "here", None, None)
    guess(guesses, "there", None)


@pytest.mark.parametrize("refusal", [None, NoSuchMatch("m")])
def test_what_is_no_wrong_guess_costs_nothing(refusal: Exception | None) -> None:
    guesses = Guesses(GatewaySettings(guess_burst_per_address=3, guess_burst_per_player=3))
    for _ in range(20):
        guess(guesses, "here", refusal)


def test_guesses_made_at_once_are_all_paid_for_in_advance() -> None:
    guesses = Guesses(GatewaySettings(guess_burst_per_player=2))
    with guesses.one("a", ANN), guesses.one("b", ANN), pytest.raises(TooManyRequests), guesses.one("c", ANN):
        raise AssertionError("the third is let in")


def test_guesses_at_the_operators_token_run_out_for_the_address(start_gateway: Start) -> None:
    gateway = start_gateway(GUESS_BURST_PER_ADDRESS="3", GUESS_RATE_PER_ADDRESS="0.001")
    answers = []
    for token in (*[ADMIN_TOKEN] * 5, "a", "b", "c", ADMIN_TOKEN):
        headers = {"Authorization": f"Bearer {token}"}
        answers.append(httpx.post(f"{gateway.url}/v1/matches/nope/abort", headers=headers).status_code)
    assert answers == [404] * 5 + [403] * 3 + [429]
