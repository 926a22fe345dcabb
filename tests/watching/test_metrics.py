"""What processes serve: few metrics, no ids, and everything that dashboards, alerts and scalers ask for."""

import json
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
import yaml

from deploy.local.system import ROOT
from tests.waiting import wait_until
from tests.watching.conftest import Watched
from tests.watching.names import asked_for, served
from tests.watching.table import begun

pytestmark = pytest.mark.slow

OURS = re.compile(r"(http|rpc|append|matches|tails|relay|consumer|live|worker|store|lobby|gateway)_")
LABELS = {
    *("method", "route", "status", "service", "code", "title", "owner", "consumer", "le"),
    *("generation", "implementation", "major", "minor", "patchlevel", "version"),  # the library's own
}
K8S = ROOT / "k8s" / "components"
PROCESSES = ("gateway-1", "lobby-1", "projection-1", "rules-make_way-1")


@pytest.fixture(scope="module")
def names(watched: Watched) -> dict[str, dict[str, set[str]]]:
    """The names of each process after a match was played a little."""
    with httpx.Client(base_url=watched.url, timeout=60) as client:
        table = begun(client)
        assert table.move().status_code == 200
        client.get("/v1/matches/nothing_of_ours")
    return {name: served(watched.metrics(name)) for name in PROCESSES}


def test_a_query_is_read_for_its_series_alone() -> None:
    query = 'histogram_quantile(0.99, sum by (le, route) (rate(a_bucket{x=~"b_total"}[1m]))) > 2 * sum(c)'
    assert asked_for(query) == {"a_bucket", "c"}
    assert asked_for("a_total unless a_total offset 5m") == {"a_total"}


def test_every_process_serves_metrics_and_none_has_a_label_with_ids(names) -> None:
    for process, served_by in names.items():
        assert any(OURS.match(name) for name in served_by), process
        for name, labels in served_by.items():
            assert labels <= LABELS, f"{process}: {name}"


def test_metrics_are_few_and_named_with_their_unit(names) -> None:
    every = {name for served_by in names.values() for name in served_by}
    ours = {name for name in every if not name.startswith(("python_", "process_")) and "_created" not in name}
    assert all(OURS.match(name) for name in ours), ours
    families = {re.sub(r"_(bucket|count|sum|total)$", "", name) for name in ours}
    assert len(families) <= 30, families


def test_no_id_is_in_any_value_of_a_label(names, watched: Watched, client: httpx.Client) -> None:
    table = begun(client)
    assert table.move().status_code == 200
    for name in PROCESSES:
        text = watched.metrics(name)
        for id in (table.match, *(player.id for player in table.players)):
            assert id not in text, name
        assert "nothing_of_ours" not in text


def queries() -> dict[str, str]:
    """All that is asked of Prometheus, by where."""
    found: dict[str, str] = {}
    dashboard = json.loads((K8S / "monitoring" / "dashboards" / "waystation.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            found[f"panel {panel['title']} {target['refId']}"] = target["expr"]
    for group in yaml.safe_load((K8S / "monitoring" / "alerts.yaml").read_text())["spec"]["groups"]:
        found |= {f"alert {rule['alert']}": rule["expr"] for rule in group["rules"]}
    return found


def test_dashboard_and_alerts_ask_only_for_what_a_process_serves(names) -> None:
    there = {"up", *(name for served_by in names.values() for name in served_by)}  # up: Prometheus' own
    asked = {where: asked_for(query) for where, query in queries().items()}
    assert len(asked) > 20
    assert "worker_busy_seconds_total" in asked["alert WorkersAreBusy"]
    for where, series in asked.items():
        assert series, where
        assert series <= there, where


def test_a_lost_tail_would_be_an_increase_of_a_count_that_is_there_before(watched: Watched, names) -> None:
    assert 'tails_lost_total{title="make_way"} 0.0' in watched.metrics("rules-make_way-1")


def test_the_scalers_metric_is_made_of_a_series_that_workers_serve(names) -> None:
    """The autoscaler asks the adapter for a metric by name; the adapter makes it of a series."""
    scaler = yaml.safe_load((K8S / "autoscaling" / "rules" / "autoscaler.yaml").read_text())
    (wanted,) = [metric["pods"]["metric"]["name"] for metric in scaler["spec"]["metrics"] if "pods" in metric]
    (rule,) = yaml.safe_load((K8S / "autoscaling" / "adapter.yaml").read_text())["rules"]["custom"]
    assert rule["name"]["as"] == wanted
    assert asked_for(rule["seriesQuery"]) <= set(names["rules-make_way-1"])
    assert names["rules-make_way-1"]["worker_busy_seconds_total"] == {"title"}


def busy_s(watched: Watched) -> float:
    """Seconds that the worker has been busy."""
    for line in watched.metrics("rules-make_way-1").splitlines():
        if line.startswith('worker_busy_seconds_total{title="make_way"}'):
            return float(line.split()[1])
    raise AssertionError("the worker serves no such metric")


def busy_share(watched: Watched, meanwhile: Callable[[], object]) -> float:
    """Of the time that `meanwhile` takes, how much the worker is busy."""
    began, before = time.monotonic(), busy_s(watched)
    meanwhile()
    return (busy_s(watched) - before) / (time.monotonic() - began)


def test_a_worker_is_busier_under_load_than_at_rest(watched: Watched, client: httpx.Client) -> None:
    table = begun(client)

    def ask(_: int) -> None:
        assert table.players[0].ask("GET", table.path).status_code == 200

    at_rest = busy_share(watched, lambda: time.sleep(2))
    with ThreadPoolExecutor(8) as players:
        wait_until(
            lambda: busy_share(watched, lambda: list(players.map(ask, range(400)))) > 2 * at_rest,
            f"at rest the worker is busy for {at_rest:.3f} of the time, and no more under load",
        )


def test_documentation_names_only_metrics_that_exist(names) -> None:
    there = {name for served_by in names.values() for name in served_by}
    there |= {re.sub(r"_(bucket|count|sum)$", "", name) for name in there}
    told = re.findall(r"`([a-z]+(?:_[a-z]+)+)`", Path(ROOT / "docs" / "operations.md").read_text())
    metrics = {name for name in told if OURS.match(name)} - {"worker_busy"}  # the adapter's
    assert metrics <= there
    assert "worker_busy_seconds_total" in metrics
