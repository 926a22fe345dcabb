"""What a run has found, as programs and people read it."""

import io

import msgspec
import pytest
from rich.console import Console

from bench import report
from bench.plans import Plan
from bench.report import SHARES, Report, Result
from bench.rest import Rest
from deploy.local.system import System

PROCESSES = {
    "valkey": 0.5,
    "nats": 0.3,
    "lobby-1": 0.1,
    "projection-1": 0.2,
    "rules-make_way-1": 1.0,
    "rules-make_way-2": 2.0,
    "gateway-1": 1.5,
    "gateway-2": 0.5,
}
RESULT = Result(
    plan=Plan(title="make_way", workers=2, gateways=2),
    moves=2_000,
    seconds=4.0,
    p50_ms=1.0,
    p99_ms=2.0,
    late=0,
    cpu_s=PROCESSES,
    rss_mb=dict.fromkeys(PROCESSES, 80.0) | {"valkey": 900.0, "gateway-2": 90.0},
    generator_cpu_s=1.0,
    redis_bytes=300.0,
)
REST = Rest(
    title="make_way",
    matches=5_000,
    opening_s=50.0,
    redis_bytes=7_200.0,
    seconds=10.0,
    cpu_s=dict.fromkeys(PROCESSES, 0.05),
    rss_mb=dict.fromkeys(PROCESSES, 80.0),
)
REPORT = Report(
    commit="abc",
    machine="a machine",
    versions={},
    is_pinned=True,
    results=[RESULT],
    rests=[REST],
    histories=[],
)


def shown(found: Report) -> str:
    console = Console(file=io.StringIO(), width=200)
    report.show(found, console)
    return console.file.getvalue()


def test_the_shares_of_the_processes_add_up_to_what_a_move_costs():
    assert sum(map(RESULT.share, SHARES)) == pytest.approx(RESULT.cpu_per_1000) == 3.05


def test_every_process_of_a_system_is_in_one_share(tmp_path):
    system = System(tmp_path, {"make_way": 2, "wayfare": 1}, ports=[1, 2])
    for name in [service.name for service in system._planned()]:
        assert len([share for share in SHARES if name.startswith(share)]) == 1, name


def test_the_largest_process_is_one_of_ours():
    assert RESULT.largest_rss_mb == 90.0


def test_the_file_holds_all_that_was_found(tmp_path):
    report.write(REPORT, tmp_path / "new" / "whole.json")
    assert msgspec.json.decode((tmp_path / "new" / "whole.json").read_bytes(), type=Report) == REPORT


def test_the_tables_show_what_a_move_costs_and_what_matches_take_at_rest():
    text = shown(REPORT)
    assert RESULT.plan.name in text
    assert "3.050" in text
    assert "5,000" in text
    assert "7,200" in text
    assert "40.0" in text, "eight processes use 5 ms per second each"


def test_without_idle_matches_there_is_no_table_of_them():
    assert "nothing happens" not in shown(msgspec.structs.replace(REPORT, rests=[]))
