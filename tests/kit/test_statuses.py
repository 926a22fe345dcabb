from dataclasses import fields
from itertools import chain

import pytest

from services.core import errors
from services.core.errors import DomainError
from services.kit import statuses
from services.kit.statuses import Unexpected
from tests.kit.served import serving


def subclasses(kind: type[DomainError]) -> list[type[DomainError]]:
    below = kind.__subclasses__()
    return [*below, *chain.from_iterable(subclasses(each) for each in below)]


EVERY_ERROR = sorted(
    (kind for kind in subclasses(DomainError) if kind.__module__.startswith("services.")),
    key=lambda kind: kind.__name__,
)


def example(kind: type[DomainError]) -> DomainError:
    """One of `kind` with a different value in each field."""
    return kind(
        **{field.name: n + 7 if field.type is int else f"<é{n}>" for n, field in enumerate(fields(kind))}
    )


@pytest.mark.parametrize("kind", EVERY_ERROR, ids=lambda kind: kind.__name__)
def test_every_error_has_a_row_of_its_own_in_the_table(kind: type[DomainError]) -> None:
    assert kind in statuses.TABLE


def test_no_two_errors_share_a_reason() -> None:
    reasons = [kind.reason for kind in EVERY_ERROR]
    assert sorted(set(reasons)) == sorted(reasons)


@pytest.mark.parametrize("kind", EVERY_ERROR, ids=lambda kind: kind.__name__)
def test_every_error_is_the_same_after_its_facts_went_as_text(kind: type[DomainError]) -> None:
    error = example(kind)
    back = statuses.error_of(error.reason, str(error), statuses.facts_text(error))
    assert (type(back), back.facts, str(back)) == (kind, error.facts, str(error))


@pytest.mark.anyio
async def test_every_error_is_the_same_after_it_crossed_the_wire() -> None:
    thrown: list[DomainError] = []

    async def throw() -> bytes:
        raise thrown[-1]

    async with serving(throw) as (_, client):
        for kind in EVERY_ERROR:
            thrown.append(example(kind))
            with pytest.raises(kind) as caught:
                await client.ask()
            assert caught.value.facts == thrown[-1].facts


@pytest.mark.anyio
async def test_an_error_that_quotes_a_huge_text_still_arrives_typed() -> None:
    async def throw() -> bytes:
        raise errors.NoSuchTitle("🎲" * 100_000)

    async with serving(throw) as (_, client):
        with pytest.raises(errors.NoSuchTitle) as caught:
            await client.ask()
    assert caught.value.title == "🎲" * statuses.TEXT_MAX


def test_a_reason_of_a_newer_service_keeps_its_sentence() -> None:
    error = statuses.error_of("SEAT_ON_FIRE", "seat 3 burns", {"seat": "3"})
    assert isinstance(error, Unexpected)
    assert str(error) == "seat 3 burns"


@pytest.mark.parametrize("facts", [{}, {"seat": "three"}])
def test_facts_that_do_not_fit_the_reason_are_no_crash(facts: dict[str, str]) -> None:
    assert isinstance(statuses.error_of("SEAT_TAKEN", "seat 3 is taken", facts), Unexpected)


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (errors.TooManyRequests(9), 9),
        (errors.Overloaded("a queue", 10, 2), 2),
        (errors.StoreUnavailable("gone"), 1),
        (errors.SeatTaken(1), None),
        (errors.VersionConflict(1, 2), None),
    ],
)
def test_only_what_may_pass_later_says_when_to_try_again(error: DomainError, seconds: int | None) -> None:
    assert statuses.retry_after_s(error) == seconds
    assert statuses.is_retryable(error) is (seconds is not None)
