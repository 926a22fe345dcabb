"""What the components that watch the system set up, in every variant."""

import re

import yaml

from tests.k8s.rendering import named, of_kind

OTLP = {"protocol": "TCP", "port": 4318}


def _traces(variant):
    """Whether the variant has the component; its name lists those that were added."""
    return "tracing" in variant.split("+")


def test_services_trace_where_the_component_is_and_nowhere_else(rendered):
    seen = set()
    for variant, manifests in rendered.items():
        (settings,) = [
            config
            for config in of_kind(manifests, "ConfigMap")
            if config["metadata"]["name"].startswith("waystation-settings-")
        ]
        endpoint = settings["data"].get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
        assert endpoint.startswith("http://") == _traces(variant), variant
        seen.add(bool(endpoint))
    assert seen == {True, False}


def test_a_collector_can_be_reached_where_traces_are_sent_and_nowhere_else(rendered):
    seen = set()
    for variant, manifests in rendered.items():
        policies = [
            policy
            for policy in of_kind(manifests, "NetworkPolicy")
            if "Egress" in policy["spec"]["policyTypes"]
        ]
        open_ports = [
            port
            for policy in policies
            for rule in policy["spec"].get("egress", [])
            for port in rule.get("ports", [])
        ]
        if policies:
            assert (OTLP in open_ports) == _traces(variant), variant
            seen.add(OTLP in open_ports)
    assert seen == {True, False}


def test_alerts_know_services_by_labels_that_the_scrapes_give(rendered):
    manifests = rendered["dev+monitoring"]
    (scrapes,) = of_kind(manifests, "PodMonitor")
    given = {re.sub(r"[^a-zA-Z0-9_]", "_", label) for label in scrapes["spec"]["podTargetLabels"]}
    (alerts,) = of_kind(manifests, "PrometheusRule")
    exprs = [rule["expr"] for group in alerts["spec"]["groups"] for rule in group["rules"]]
    asked = set(re.findall(r"\b(?:app_kubernetes_io|waystation)_\w+", " ".join(exprs)))
    assert asked == given
    services = {
        deployment["metadata"]["labels"]["app.kubernetes.io/name"]
        for deployment in of_kind(manifests, "Deployment")
    }
    absent = set(re.findall(r'absent\(up{app_kubernetes_io_name="(\w+)"}\)', " ".join(exprs)))
    assert absent == services


def test_every_title_scales_by_cpu_and_by_how_busy_its_workers_are(rendered):
    scalers = [
        scaler
        for scaler in of_kind(rendered["dev+autoscaling"], "HorizontalPodAutoscaler")
        if scaler["metadata"]["name"].startswith("rules-")
    ]
    assert scalers
    for scaler in scalers:
        by = {metric["type"]: metric for metric in scaler["spec"]["metrics"]}
        assert by["Resource"]["resource"]["name"] == "cpu", named(scaler)
        assert by["Pods"]["pods"]["metric"] == {"name": "worker_busy"}, named(scaler)


def test_the_adapter_is_told_how_to_make_what_the_autoscalers_ask_for(rendered):
    for variant, manifests in rendered.items():
        asked = {
            metric["pods"]["metric"]["name"]
            for scaler in of_kind(manifests, "HorizontalPodAutoscaler")
            for metric in scaler["spec"]["metrics"]
            if metric["type"] == "Pods"
        }
        told = {
            rule["name"]["as"]
            for config in of_kind(manifests, "ConfigMap")
            if config["metadata"]["name"] == "waystation-adapter"
            for rule in yaml.safe_load(config["data"]["values.yaml"])["rules"]["custom"]
        }
        assert asked == told, variant
