"""Runs of several servers become one line each."""

from msgspec.structs import replace

from bench.peers.servers import PEERS, WAYSTATION
from bench.peers.table import Row, lines

ROW = Row(
    server=WAYSTATION,
    moves=5_000,
    seconds=2.5,
    p50_ms=50.04,
    p99_ms=99.0,
    cpu_s=3.1,
    rss_mb=378.4,
    generator_cpu_s=0.25,
)


def test_one_run_is_shown_without_a_spread() -> None:
    assert lines([ROW]) == [["Waystation", "yes", "2,000", "50.0", "99.0", "0.620", "378", "10"]]


def test_of_several_runs_the_median_is_shown_with_the_least_and_the_most() -> None:
    (cells,) = lines([replace(ROW, cpu_s=cpu_s) for cpu_s in (3.0, 4.5, 3.5)])
    assert cells[5] == "0.700 (0.600-0.900)"


def test_servers_stand_in_the_order_of_their_first_runs() -> None:
    others = [replace(ROW, server=peer.name) for peer in PEERS]
    shown = lines([ROW, *others, ROW, *others])
    assert [(cells[0], cells[1]) for cells in shown] == [
        (WAYSTATION, "yes"),
        *[(peer.name, peer.durable) for peer in PEERS],
    ]
