"""The Pods of the dev overlay, run for real: matches of every title, scaling, rolling, metrics."""

import asyncio
import json
import random
import re
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from deploy.local.system import shipped_titles
from deploy.manifests import dns_name
from tests.containers.engine import PYTHON_IMAGE, words_of
from tests.containers.report import CHANGES, IMAGES
from tests.e2e.checking import check_history, check_lists, check_record, folded
from tests.e2e.playing import History, play_http, play_sockets
from tests.e2e.site import gathered
from tests.k8s.rendering import K8S

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(900)]

SEED = 20260201
SCALED = "make_way"


class Play:
    """Players of random matches, one after the other; told to end, they play those they have begun."""

    def __init__(self, site, titles, at_once):
        self.site = site
        self.titles = titles
        self.history = History()
        self.matches = []
        self._stopping = asyncio.Event()
        self._rng = random.Random(SEED)
        self._tasks = [asyncio.create_task(self._keep_playing(n)) for n in range(at_once)]

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    async def moves(self, number):
        """Returns when that many more moves have been acknowledged."""
        enough = len(self.history.acknowledged) + number
        async with asyncio.timeout(300):
            while len(self.history.acknowledged) < enough:
                for task in self._tasks:
                    if task.done():
                        task.result()
                await asyncio.sleep(0.02)

    async def ended(self):
        """Lets all matches come to their end."""
        self._stopping.set()
        async with asyncio.timeout(400):
            await asyncio.gather(*self._tasks)

    async def _keep_playing(self, number):
        seats = {
            title["slug"]: title["seats"]["min"]
            for title in (await self.site.ask("GET", "/v1/titles"))["titles"]
        }
        while not self._stopping.is_set():
            title = self.titles[number % len(self.titles)]
            players = await self.site.players(seats[title])
            match = await gathered(players, title)
            self.matches.append((match, players))
            rng = random.Random(self._rng.random())
            if number % 3:
                await play_http(players, match, self.history, rng)
            else:
                await play_sockets(players, match, self.site.urls[0], self.history, rng)


class Change:
    """Something that is done to a cluster under load, from now until `row` is called."""

    def __init__(self, play):
        self.moves = 0
        self._play = play
        self._under_way = play.site.under_way
        self._before = len(play.history.acknowledged), play.site.retried
        self._began = time.monotonic()

    def row(self, name):
        """A row of the report. That none of its moves was lost is what `kept` proves later."""
        moves, retried = self._before
        self.moves = len(self._play.history.acknowledged) - moves
        repeated = self._play.site.retried - retried
        seconds = time.monotonic() - self._began
        return name, self._under_way, self.moves, repeated, self._play.site.attempts_most, 0, seconds


async def kept(store, site, play):
    """Every acknowledged move of `play` is in the streams once, and every match proves itself.

    Returns how many were stored though their senders never heard so.
    """
    ids = [match for match, _ in play.matches]
    await check_history(store, play.history, ids)
    unheard = [events for match in ids for events in await _unheard(store, play.history, match)]
    assert all(request_ids.count(event.request_id) == 1 for event, request_ids in unheard)
    await check_lists(store, site, ids)
    for match, players in play.matches[:8]:
        await check_record(players[0], match, len(await folded(store, match)))
    return len(unheard)


async def _unheard(store, history, match):
    """The stored events of `match` that no receipt tells of, each with all request ids of the match."""
    events = [event for event, _ in await folded(store, match)]
    request_ids = [event.request_id for event in events]
    heard = {receipt.version for receipt in history.acknowledged if receipt.match == match}
    rest = [event for event in events[1:] if event.version not in heard]
    assert all(event.request_id for event in rest), "an event that no player asked for"
    return [(event, request_ids) for event in rest]


def test_every_image_is_ready_soon_and_its_health_check_agrees(cluster, docker_engine, report):
    for name in cluster.deployments:
        added = cluster.add(name)
        image = docker_engine.images.get(added.manifest["image"])
        check = image.attrs["Config"]["Healthcheck"]["Test"]
        assert check[0] == "CMD"
        asked = added.container.exec_run(check[1:])
        assert asked.exit_code == 0, asked.output.decode()
        ours = image.attrs["Size"] - docker_engine.images.get(PYTHON_IMAGE).attrs["Size"]
        sizes = [size // 1_000_000 for size in (image.attrs["Size"], ours)]
        report.add(IMAGES, added.manifest["image"], *sizes, cluster.started_s[added.name])
    with ThreadPoolExecutor(len(cluster.deployments)) as threads:
        list(threads.map(cluster.take, cluster.deployments))


async def test_every_title_is_played_from_the_first_move_to_the_list_of_results(cluster, site, store):
    async with Play(site, shipped_titles(), at_once=2 * len(shipped_titles())) as play:
        await play.moves(200)
        await play.ended()
    assert await kept(store, site, play) == 0
    assert site.retried == 0


async def test_a_title_scales_from_one_worker_to_three_and_back_under_load(cluster, site, store, report):
    rules = f"rules-{dns_name(SCALED)}"
    async with Play(site, [SCALED], at_once=16) as play:
        await play.moves(200)
        growing = Change(play)
        await asyncio.to_thread(cluster.scale, rules, 3)
        grown = growing.row(f"{rules} 1 -> 3")
        workers = list(cluster.pods[rules])
        await play.moves(1500)
        decided = [words_of(worker.container, 100_000).count('"event":"match_started"') for worker in workers]
        shrinking = Change(play)
        await asyncio.to_thread(cluster.scale, rules, 1)
        shrunk = shrinking.row(f"{rules} 3 -> 1")
        await play.moves(200)
        await play.ended()
    assert await kept(store, site, play) == 0, "a worker that leaves answers what it has stored"
    assert all(decided), f"matches started by each of three workers: {decided}"
    assert shrinking.moves, "nobody played while the workers left"
    assert [left.code for left in cluster.left[-2:]] == [0, 0]
    for row in (grown, shrunk):
        report.add(CHANGES, *row)


async def test_every_deployment_rolls_under_load_and_no_acknowledged_move_is_lost(
    cluster, site, store, report
):
    rows = []
    async with Play(site, shipped_titles(), at_once=12) as play:
        await play.moves(50)
        for deployment in cluster.deployments:
            change = Change(play)
            left = await asyncio.to_thread(cluster.roll, deployment)
            rows.append(change.row(f"{deployment} rolled"))
            assert change.moves, f"nobody moved while {deployment} was rolled"
            assert left.code == 0, f"{deployment} did not leave by itself"
        await play.ended()
    await kept(store, site, play)
    assert site.attempts_most <= 2, "a request failed again after its one repetition"
    for row in rows:
        report.add(CHANGES, *row)


async def test_every_metric_of_the_dashboard_and_the_alerts_is_one_that_a_service_has(cluster, site):
    there = set()
    for deployment in cluster.deployments:
        with_types = await asyncio.to_thread(_scraped, cluster.port(deployment, 9090))
        there |= set(re.findall(r"^# TYPE (\w+) ", with_types, re.MULTILINE))
    monitoring = K8S / "components" / "monitoring"
    panels = json.loads((monitoring / "dashboards" / "waystation.json").read_text())["panels"]
    texts = [target["expr"] for panel in panels for target in panel["targets"]]
    texts += re.findall(r"expr: (.*)", (monitoring / "alerts.yaml").read_text())
    asked = set(re.findall(r"\b([a-z]+_[a-z_]+[a-z])\b(?=[\[{ )]|$)", " ".join(texts))) - {
        "histogram_quantile"
    }
    assert len(asked) > 8
    assert {re.sub(r"_(bucket|count)$", "", name) for name in asked} <= there


def _scraped(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        return answer.read().decode()
