import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from redis.asyncio import Redis

from deploy.local.servers import Valkey
from services.core.errors import NoSuchTitle, ServiceDown, StoreUnavailable, TitleDown
from services.core.ids import Slug
from services.kit import announce, plain_redis
from services.kit.announce import LIVE, Announcer, Member, Worker, announce_service
from services.kit.directory import Directory
from tests.waiting import until

pytestmark = pytest.mark.anyio


@pytest.fixture
def slug(new_owner: Callable[[], str]) -> Slug:
    return Slug(new_owner())


@pytest.fixture
async def redis(valkey_url: str) -> AsyncIterator[Redis]:
    client = plain_redis.connect(valkey_url)
    yield client
    await client.aclose()


def worker(slug: Slug, address: str, *versions: int, description: bytes = b"{}") -> Worker:
    return Worker(slug, address, versions or (1,), description)


@asynccontextmanager
async def announced(redis: Redis, *workers: Worker) -> AsyncIterator[list[Announcer]]:
    announcers = [Announcer(redis, each) for each in workers]
    for each in announcers:
        await each.start()
    yield announcers
    for each in announcers:
        await each.stop()


async def seen(redis: Redis) -> Directory:
    directory = Directory(redis)
    await directory.refresh()
    return directory


async def test_a_worker_is_listed_while_it_is_announced_and_its_title_stays_known(
    redis: Redis, slug: Slug
) -> None:
    async with announced(redis, worker(slug, "a:1", 1, 2, description=b'{"slug":"x"}')):
        info = (await seen(redis)).title(slug)
        assert (info.description, info.available, info.rules_versions) == (b'{"slug":"x"}', True, (1, 2))
    directory = await seen(redis)
    assert not directory.titles()[slug].available
    with pytest.raises(TitleDown):
        directory.pick(slug, "m")


async def test_a_title_nobody_ever_announced_is_unknown(redis: Redis, slug: Slug) -> None:
    directory = await seen(redis)
    for ask in (lambda: directory.pick(slug, "m"), lambda: directory.newest_common_version(slug)):
        with pytest.raises(NoSuchTitle):
            ask()


async def test_a_worker_that_died_is_gone_once_its_announcement_expired(redis: Redis, slug: Slug) -> None:
    dead = Member("title", slug, "a:1", (1,))
    now = announce.clock_ms(await redis.time())
    await redis.zadd(LIVE, {msgspec.json.encode(dead): now - 1})
    async with announced(redis, worker(slug, "a:2")):
        assert [member.address for member in (await seen(redis)).workers(slug)] == ["a:2"]


async def test_a_match_keeps_its_worker_until_that_worker_leaves(redis: Redis, slug: Slug) -> None:
    matches = [f"m{n}" for n in range(200)]
    async with announced(redis, worker(slug, "a:1"), worker(slug, "a:2"), worker(slug, "a:3")) as announcers:
        directory = await seen(redis)
        before = {match: directory.pick(slug, match) for match in matches}
        assert set(before.values()) == {"a:1", "a:2", "a:3"}
        await announcers[0].stop()
        await directory.refresh()
        after = {match: directory.pick(slug, match) for match in matches}
    moved = {match for match in matches if before[match] != after[match]}
    assert moved == {match for match in matches if before[match] == "a:1"}


async def test_a_worker_to_avoid_or_without_the_rules_version_is_not_picked(redis: Redis, slug: Slug) -> None:
    async with announced(redis, worker(slug, "a:1", 1), worker(slug, "a:2", 1, 2)):
        directory = await seen(redis)
        assert {directory.pick(slug, f"m{n}", rules_version=2) for n in range(50)} == {"a:2"}
        assert {directory.pick(slug, f"m{n}", avoid=("a:2",)) for n in range(50)} == {"a:1"}
        with pytest.raises(TitleDown):
            directory.pick(slug, "m", rules_version=2, avoid=("a:2",))


async def test_a_draining_worker_is_picked_only_when_there_is_no_other(redis: Redis, slug: Slug) -> None:
    async with announced(redis, worker(slug, "a:1"), worker(slug, "a:2")) as (first, second):
        await first.drain()
        directory = await seen(redis)
        assert {directory.pick(slug, f"m{n}") for n in range(50)} == {"a:2"}
        await second.drain()
        await directory.refresh()
        assert {directory.pick(slug, f"m{n}") for n in range(50)} == {"a:1", "a:2"}


async def test_a_new_rules_version_counts_only_when_every_live_worker_has_it(
    redis: Redis, slug: Slug
) -> None:
    async with announced(redis, worker(slug, "a:1", 1), worker(slug, "a:2", 1, 2)) as (old, _):
        directory = await seen(redis)
        assert directory.newest_common_version(slug) == 1
        await old.stop()
        await directory.refresh()
        assert directory.newest_common_version(slug) == 2


async def test_a_process_that_came_back_on_its_port_is_listed_once_and_as_it_is_now(
    redis: Redis, slug: Slug
) -> None:
    killed = Announcer(redis, worker(slug, "a:1", 1))
    await killed.start()
    await asyncio.sleep(0.01)  # as a process takes at the least to come back
    async with announced(redis, worker(slug, "a:1", 1, 2)):
        (member,) = (await seen(redis)).workers(slug)
        assert member.rules_versions == (1, 2)
    await killed.stop()


async def test_a_description_changes_with_the_worker_that_brings_it(
    redis: Redis, slug: Slug, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = announce.clock_ms(await redis.time())

    async def no_later(_: Redis) -> int:
        return same

    monkeypatch.setattr(announce, "_now_ms", no_later)  # both workers start within one millisecond
    directory = await seen(redis)
    for text in (b"1", b"2"):
        async with announced(redis, worker(slug, "a:1", description=text)):
            await directory.refresh()
            assert directory.title(slug).description == text


async def test_a_service_is_found_by_name_and_a_fixed_address_goes_first(
    redis: Redis, new_owner: Callable[[], str]
) -> None:
    name = new_owner()
    announcer = announce_service(redis, name, "a:9")
    await announcer.start()
    assert (await seen(redis)).service(name) == "a:9"
    assert Directory(redis, {name: "b:1"}).service(name) == "b:1"
    with pytest.raises(ServiceDown):
        (await seen(redis)).service(name, avoid=("a:9",))
    await announcer.stop()
    with pytest.raises(ServiceDown):
        (await seen(redis)).service(name)


async def test_an_outage_leaves_the_last_picture_and_an_emptied_redis_is_filled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announce, "BEAT_S", 0.05)
    with Valkey(tmp_path) as valkey:
        redis = plain_redis.connect(valkey.url)
        async with announced(redis, worker(Slug("probe"), "a:1")):
            directory = await seen(redis)
            valkey.kill()
            with pytest.raises(StoreUnavailable):
                await directory.refresh()
            assert directory.pick("probe", "m") == "a:1"
            valkey.restart()
            await redis.flushall()
            await until(lambda: redis.zcard(LIVE))
            await directory.refresh()
            assert directory.title("probe").available
        await redis.aclose()


async def test_a_title_announced_this_moment_is_found_by_looking_for_it(redis: Redis, slug: Slug) -> None:
    directory = await seen(redis)
    async with announced(redis, worker(slug, "a:1")):
        with pytest.raises(NoSuchTitle):
            directory.title(slug)
        await directory.look_for(slug)
        assert directory.pick(slug, "m") == "a:1"


async def test_everybody_who_looks_for_a_title_at_once_finds_it(redis: Redis, slug: Slug) -> None:
    directory = await seen(redis)

    async def found() -> str:
        await directory.look_for(slug)
        return directory.pick(slug, "m")

    async with announced(redis, worker(slug, "a:1")):
        assert await asyncio.gather(*[found() for _ in range(5)]) == ["a:1"] * 5


async def test_looking_for_titles_that_are_not_there_asks_redis_only_now_and_then(
    redis: Redis, slug: Slug, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = await seen(redis)
    looks = 0

    async def counted() -> None:
        nonlocal looks
        looks += 1

    monkeypatch.setattr(directory, "refresh", counted)
    for _ in range(50):
        await directory.look_for(slug)
    assert 1 <= looks <= 2
