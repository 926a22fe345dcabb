"""House rules for every Pod and every name: the restricted profile, probes, limits, labels, tags."""

import re

import pytest

from tests.k8s.rendering import named, of_kind, pod

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")  # RFC 1123
SECRET = re.compile(r"password|secret|token|://[^/]*:[^/]*@", re.IGNORECASE)
WORKLOADS = ("Deployment", "StatefulSet")


@pytest.fixture
def workloads(manifests):
    found = of_kind(manifests, *WORKLOADS)
    assert {workload["kind"] for workload in found} == set(WORKLOADS)
    return found


@pytest.fixture
def containers(workloads):
    """Workload and container; ours have no others than plain containers."""
    for workload in workloads:
        assert not {"initContainers", "ephemeralContainers"} & set(pod(workload))
    return [(workload, container) for workload in workloads for container in pod(workload)["containers"]]


def test_every_pod_keeps_to_the_restricted_profile(workloads):
    for workload in workloads:
        spec = pod(workload)
        context = spec["securityContext"]
        assert context["runAsNonRoot"] is True, named(workload)
        assert context["runAsUser"] > 0, named(workload)
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}, named(workload)
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec), named(workload)
        for volume in spec.get("volumes", []):
            kinds = set(volume) - {"name"}
            assert kinds <= {"configMap", "emptyDir", "secret", "persistentVolumeClaim"}, named(workload)


def test_every_container_keeps_to_the_restricted_profile(containers):
    for workload, container in containers:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False, named(workload)
        assert context["capabilities"] == {"drop": ["ALL"]}, named(workload)
        assert context["readOnlyRootFilesystem"] is True, named(workload)
        assert not {"privileged", "runAsUser", "runAsNonRoot"} & set(context), named(workload)
        assert all("hostPort" not in port for port in container["ports"]), named(workload)


def test_every_namespace_enforces_the_restricted_profile(manifests):
    namespaces = of_kind(manifests, "Namespace")
    assert len(namespaces) == 2
    for namespace in namespaces:
        assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_no_pod_can_talk_to_the_api_server(workloads):
    assert all(pod(workload)["automountServiceAccountToken"] is False for workload in workloads)


def test_every_container_is_probed_for_start_readiness_and_life(containers):
    for workload, container in containers:
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert probe in container, f"{named(workload)}: {probe}"
        if workload["spec"]["template"]["metadata"]["labels"].get("app.kubernetes.io/name") in (
            "lobby",
            "projection",
            "rules",
        ):
            assert container["readinessProbe"]["grpc"] == {"port": 50051}, named(workload)


def test_every_container_has_requests_and_limits_that_fit(containers):
    for workload, container in containers:
        resources = container["resources"]
        for what, read in (("cpu", _cores), ("memory", _mib)):
            assert 0 < read(resources["requests"][what]) <= read(resources["limits"][what]), named(workload)


def test_every_service_leaves_gently_and_within_its_grace(manifests):
    for deployment in of_kind(manifests, "Deployment"):
        (container,) = pod(deployment)["containers"]
        waits = container["lifecycle"]["preStop"]["sleep"]["seconds"]
        assert 0 < waits < pod(deployment)["terminationGracePeriodSeconds"] - 30, named(deployment)
        assert deployment["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


def test_every_deployment_is_spread_over_nodes_and_zones_by_its_own_pods(manifests):
    for deployment in of_kind(manifests, "Deployment"):
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        spread = pod(deployment)["topologySpreadConstraints"]
        assert {constraint["topologyKey"] for constraint in spread} == {
            "kubernetes.io/hostname",
            "topology.kubernetes.io/zone",
        }
        for constraint in spread:
            assert constraint["labelSelector"]["matchLabels"] == labels, named(deployment)


def test_every_image_has_a_version(containers):
    for workload, container in containers:
        name, _, tag = container["image"].rpartition(":")
        assert name, named(workload)
        assert tag[0].isdigit(), f"{named(workload)}: {container['image']}"


def test_every_object_of_ours_says_what_it_is(manifests):
    ours = of_kind(manifests, "Deployment", "Service", "HorizontalPodAutoscaler", "PodDisruptionBudget")
    for manifest in ours:
        labels = manifest["metadata"]["labels"]
        assert "app.kubernetes.io/name" in labels, named(manifest)
        if labels["app.kubernetes.io/name"] == "rules":
            assert manifest["metadata"]["name"] == f"rules-{labels['waystation/title']}"


def test_every_name_is_an_rfc_1123_label(manifests):
    for name in (name for manifest in manifests for name in _names(manifest)):
        assert LABEL.fullmatch(name), name


def test_a_name_with_an_underscore_would_be_found():
    assert not LABEL.fullmatch("rules-a_way")


def test_no_secret_is_in_the_repository(manifests):
    assert not of_kind(manifests, "Secret")
    for config in of_kind(manifests, "ConfigMap"):
        for key, value in config["data"].items():
            assert key.endswith(".json") or not SECRET.search(f"{key}={value}"), key
    for deployment in of_kind(manifests, "Deployment"):
        for variable in pod(deployment)["containers"][0].get("env", []):
            assert "value" not in variable, f"{named(deployment)}: settings belong into the ConfigMap"


def _names(manifest):
    yield manifest["metadata"]["name"]
    if "namespace" in manifest["metadata"]:
        yield manifest["metadata"]["namespace"]
    if manifest["kind"] in WORKLOADS:
        yield pod(manifest).get("serviceAccountName", "default")
        for container in pod(manifest)["containers"]:
            yield container["name"]
            yield from (port["name"] for port in container["ports"])
            yield from (part.partition(":")[0] for part in container["image"].split("/"))


def _cores(quantity):
    return int(quantity[:-1]) / 1000 if quantity.endswith("m") else float(quantity)


def _mib(quantity):
    return int(quantity[:-2]) * {"Mi": 1, "Gi": 1024}[quantity[-2:]]
