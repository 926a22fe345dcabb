"""However a fault ends, what it stopped goes on; a start that fails is told, never tried again in silence."""

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from deploy.local.servers import Valkey
from deploy.local.system import System
from tests.faults.blackout import forget_since, mark
from tests.faults.nemesis import FAULTS, OUTAGE, Nemesis, calm, faults_with
from tests.waiting import until

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    """A store and nothing else. What it has acknowledged is in its log, however busy the disk is."""
    with Valkey(tmp_path / "valkey", fsync="always") as valkey:
        yield System(data=tmp_path, workers={}, ports=[], valkey=valkey, redis_url=valkey.url)


def nemesis(system: System) -> Nemesis:
    return Nemesis(system, [], random.Random(1), ["Valkey stopped and continued"], 0.1)


def is_stopped(valkey: Valkey) -> bool:
    return Path(f"/proc/{valkey.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


async def test_a_fault_that_is_cut_short_leaves_nothing_stopped(system: System):
    raging = asyncio.create_task(nemesis(system).rage(600))
    await until(lambda: is_stopped(system.valkey))
    raging.cancel()
    await asyncio.wait([raging])
    assert not is_stopped(system.valkey)


async def test_whatever_is_stopped_is_let_go_on_when_a_run_ends(system: System):
    system.valkey.pause()
    await until(lambda: is_stopped(system.valkey))
    calm(system)
    assert not is_stopped(system.valkey)


async def test_a_server_that_does_not_start_again_is_a_finding_and_no_fault(system: System):
    does = nemesis(system)
    with mark(system.valkey).log.open("ab") as log:
        log.write(b"this is no log\r\n")
    await does._inject("Valkey killed", "valkey")
    assert len(does.findings) == 1
    assert does.findings[0].startswith("Valkey killed: valkey: ended with code 1")
    assert not does.injected


async def test_what_the_store_wrote_after_a_mark_is_gone_after_a_power_cut(system: System):
    client = redis.Redis.from_url(system.redis_url)
    client.set("kept", "1")
    before = mark(system.valkey)
    client.set("lost", "1")
    system.valkey.kill()
    assert forget_since(before, system.valkey) > 0
    system.valkey.start()
    assert client.mget("kept", "lost") == [b"1", None]


def test_every_fault_is_dealt_before_any_comes_again():
    system = System(data=Path("nowhere"), workers={}, ports=[])
    faults = [fault for fault in FAULTS if fault != OUTAGE]
    dealer = Nemesis(system, [], random.Random(2), tuple(FAULTS), 1.0)
    for _ in range(3):
        dealt = [dealer._deal() for _ in faults]
        assert sorted(fault for fault, _ in dealt) == sorted(faults)


def test_only_a_store_that_flushes_every_second_loses_its_last_second():
    assert set(faults_with("everysec")) - set(faults_with("always")) == {"Valkey lost its last second"}
