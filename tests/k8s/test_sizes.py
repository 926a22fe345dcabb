"""The sizes that operators are told are those of the manifests."""

import re

import yaml

from deploy.manifests import COMPOSE
from tests.k8s.rendering import ROOT, of_kind, pod

ROW = re.compile(r"\| ([a-z]+)(?:-`<title>`| \(dev\))? \|.*\| (\w+), (\w+) \| (\w+), (\w+) \|")


def test_the_table_of_sizes_has_the_requests_and_limits_of_every_workload(rendered):
    told = {
        name: ({"memory": asked, "cpu": asked_cpu}, {"memory": most, "cpu": most_cpu})
        for name, asked, asked_cpu, most, most_cpu in ROW.findall(
            (ROOT / "docs" / "operations.md").read_text()
        )
    }
    set_by_manifests = {}
    for workload in of_kind(rendered["dev"], "Deployment", "StatefulSet"):
        resources = pod(workload)["containers"][0]["resources"]
        name = workload["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/name"]
        set_by_manifests[name] = (resources["requests"], resources["limits"])
    assert told == set_by_manifests


def test_compose_gives_our_processes_the_memory_of_the_manifests(rendered):
    composed = yaml.safe_load((ROOT / COMPOSE).read_text())["services"]
    given = {name: service["mem_limit"] for name, service in composed.items() if "mem_limit" in service}
    assert given == {
        workload["metadata"]["name"]: pod(workload)["containers"][0]["resources"]["limits"]["memory"].replace(
            "Mi", "m"
        )
        for workload in of_kind(rendered["dev"], "Deployment")
    }


def test_redis_refuses_moves_before_the_kernel_ends_it(rendered):
    (redis,) = (
        pod(workload)["containers"][0]
        for workload in of_kind(rendered["dev"], "StatefulSet")
        if workload["metadata"]["name"] == "redis"
    )
    most = redis["args"][redis["args"].index("--maxmemory") + 1]
    assert most.endswith("mb")
    assert redis["resources"]["limits"]["memory"] == "1Gi"
    assert int(most[:-2]) <= 1024 * 2 / 3
