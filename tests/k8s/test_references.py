"""What one object says of another is there, in every variant."""

from services.kit.settings import ServiceSettings, from_environment
from tests.k8s.rendering import named, of_kind, pod, selects

SETTINGS = "waystation-settings"


def test_every_autoscaler_scales_a_deployment_of_its_variant_and_no_deployment_twice(rendered):
    scaled = 0
    for variant, manifests in rendered.items():
        deployments = {deployment["metadata"]["name"] for deployment in of_kind(manifests, "Deployment")}
        scalers = of_kind(manifests, "HorizontalPodAutoscaler", "ScaledObject")
        targets = [scaler["spec"]["scaleTargetRef"]["name"] for scaler in scalers]
        assert set(targets) <= deployments, variant
        assert len(targets) == len(set(targets)), variant
        scaled += len(targets)
    assert scaled


def test_with_autoscaling_every_title_scales_alone(rendered):
    manifests = rendered["dev+autoscaling"]
    titles = {name for name in _deployments(manifests) if name.startswith("rules-")}
    scaled = {scaler["metadata"]["name"] for scaler in of_kind(manifests, "HorizontalPodAutoscaler")}
    assert titles <= scaled


def test_no_deployment_that_is_autoscaled_sets_its_own_replicas(rendered):
    for variant, manifests in rendered.items():
        scalers = of_kind(manifests, "HorizontalPodAutoscaler", "ScaledObject")
        targets = {scaler["spec"]["scaleTargetRef"]["name"] for scaler in scalers}
        for deployment in of_kind(manifests, "Deployment"):
            if deployment["metadata"]["name"] in targets:
                assert "replicas" not in deployment["spec"], f"{variant}: {named(deployment)}"


def test_every_service_and_budget_selects_the_pods_of_exactly_one_workload(rendered):
    for variant, manifests in rendered.items():
        pods = _pods(manifests)
        selectors = [
            *(
                (service, {"matchLabels": service["spec"]["selector"]})
                for service in of_kind(manifests, "Service")
            ),
            *((budget, budget["spec"]["selector"]) for budget in of_kind(manifests, "PodDisruptionBudget")),
        ]
        for manifest, selector in selectors:
            taken = [name for name, labels in pods.items() if selects(selector, labels)]
            assert taken == [manifest["metadata"]["name"]], f"{variant}: {named(manifest)}"


def test_every_port_of_a_service_is_one_of_its_pods(rendered):
    for manifests in rendered.values():
        ports = {
            workload["metadata"]["name"]: pod(workload)["containers"][0]["ports"]
            for workload in of_kind(manifests, "Deployment", "StatefulSet")
        }
        for service in of_kind(manifests, "Service"):
            there = {port["name"] for port in ports[service["metadata"]["name"]]}
            for port in service["spec"]["ports"]:
                assert port.get("targetPort", port["name"]) in there, named(service)


def test_every_setting_and_account_that_a_pod_names_is_there(rendered):
    for variant, manifests in rendered.items():
        there = {named(manifest) for manifest in manifests}
        for deployment in of_kind(manifests, "Deployment"):
            assert f"ServiceAccount {pod(deployment)['serviceAccountName']}" in there
            configs = [
                source["configMapRef"]["name"]
                for source in pod(deployment)["containers"][0]["envFrom"]
                if "configMapRef" in source
            ]
            assert len(configs) == 1, named(deployment)
            assert configs[0].startswith(f"{SETTINGS}-"), (
                "the hash in its name rolls the Pods when it changes"
            )
            assert f"ConfigMap {configs[0]}" in there, f"{variant}: {configs}"


def test_a_pod_of_the_production_overlay_does_not_start_without_its_secret(rendered):
    for deployment in of_kind(rendered["prod"], "Deployment"):
        service = deployment["metadata"]["labels"]["app.kubernetes.io/name"]
        secrets = [
            source["secretRef"]
            for source in pod(deployment)["containers"][0]["envFrom"]
            if "secretRef" in source
        ]
        assert secrets == [{"name": f"{service}-secrets", "optional": False}], named(deployment)


def test_production_waits_for_a_replica_and_keeps_events_on_three_servers(rendered):
    (config,) = (
        config
        for config in of_kind(rendered["prod"], "ConfigMap")
        if config["metadata"]["name"].startswith(SETTINGS)
    )
    replicated = {"REDIS_REPLICAS": "1", "NATS_REPLICAS": "3"}
    assert config["data"] == {"LOG_LEVEL": "INFO", "LOG_REQUESTS": "all", **replicated}
    read = from_environment(ServiceSettings, config["data"])
    assert read == ServiceSettings(redis_replicas=1, nats_replicas=3, log_requests="all")


def test_the_policies_let_every_service_reach_redis_and_its_sentinels_and_all_but_gateways_nats(rendered):
    pods = _pods(rendered["prod"])
    reach = {
        policy["metadata"]["name"]: (
            {port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]},
            {name for name, labels in pods.items() if selects(policy["spec"]["podSelector"], labels)},
        )
        for policy in of_kind(rendered["prod"], "NetworkPolicy")
        if policy["metadata"]["name"] in ("servers", "bus")
    }
    assert reach == {"servers": ({6379, 26379}, set(pods)), "bus": ({4222}, set(pods) - {"gateway"})}


def test_the_policies_let_those_who_need_the_servers_beside_them_reach_them_and_nobody_else(rendered):
    seen = 0
    for variant, manifests in rendered.items():
        if "dev" in variant and "network-policies" in variant:
            services = _deployments(manifests)
            for server, port, needing in (("redis", 6379, services), ("nats", 4222, services - {"gateway"})):
                callers = {caller for caller, peer in _conversations(manifests, port) if peer == server}
                assert callers == needing, f"{variant}: {server}"
                seen += 1
    assert seen


def test_the_monitoring_port_of_nats_is_open_for_the_scaler_which_asks_by_namespace(rendered):
    manifests = rendered["dev+network-policies+projection-lag"]
    (scaler,) = of_kind(manifests, "ScaledObject")
    endpoint = scaler["spec"]["triggers"][0]["metadata"]["natsServerMonitoringEndpoint"]
    (service,) = (
        service for service in of_kind(manifests, "Service") if service["metadata"]["name"] == "nats"
    )
    assert endpoint == f"nats.{service['metadata']['namespace']}:8222"
    open_to_all = [
        port["port"]
        for policy in of_kind(manifests, "NetworkPolicy")
        if selects(policy["spec"]["podSelector"], _pods(manifests)["nats"])
        for rule in policy["spec"].get("ingress", [])
        if "from" not in rule
        for port in rule["ports"]
    ]
    assert open_to_all == [8222]


def test_callers_see_every_pod_of_a_service_that_speaks_grpc(rendered):
    for variant, manifests in rendered.items():
        services = {service["metadata"]["name"]: service["spec"] for service in of_kind(manifests, "Service")}
        grpc = {
            name for name, spec in services.items() if {"grpc"} == {port["name"] for port in spec["ports"]}
        }
        assert {"lobby", "projection"} < grpc, variant
        assert all(services[name].get("clusterIP") == "None" for name in grpc), variant


def test_every_policy_speaks_of_pods_that_are_there(rendered):
    manifests = rendered["dev+network-policies"]
    pods = _pods(manifests).values()
    for policy in of_kind(manifests, "NetworkPolicy"):
        rules = policy["spec"].get("ingress", []) + policy["spec"].get("egress", [])
        peers = [peer for rule in rules for peer in rule.get("from", []) + rule.get("to", [])]
        local = [peer["podSelector"] for peer in peers if "namespaceSelector" not in peer]
        for selector in (policy["spec"]["podSelector"], *local):
            assert any(selects(selector, labels) for labels in pods), named(policy)


def test_the_policies_let_a_move_through_and_nothing_past_the_gateway(rendered):
    allowed = _conversations(rendered["dev+network-policies"])
    rules = {name for name in _deployments(rendered["dev"]) if name.startswith("rules-")}
    assert rules
    for title in rules:
        assert {("gateway", title), ("lobby", title), ("projection", title)} <= allowed
        assert not {peer for caller, peer in allowed if caller == title}
    assert {("gateway", "lobby"), ("gateway", "projection"), ("projection", "lobby")} <= allowed
    assert not {caller for caller, peer in allowed if peer == "gateway"}


def _conversations(manifests, port=50051):
    """Who may call whom on the port, of gRPC by default: allowed on leaving and on entering."""
    pods = _pods(manifests)
    policies = of_kind(manifests, "NetworkPolicy")

    def allows(subject, way, side, peer):
        return any(
            selects(policy["spec"]["podSelector"], pods[subject])
            and {"protocol": "TCP", "port": port} in rule["ports"]
            and (
                side not in rule  # anybody
                or any("podSelector" in to and selects(to["podSelector"], pods[peer]) for to in rule[side])
            )
            for policy in policies
            for rule in policy["spec"].get(way, [])
        )

    return {
        (caller, peer)
        for caller in pods
        for peer in pods
        if caller != peer and allows(caller, "egress", "to", peer) and allows(peer, "ingress", "from", caller)
    }


def _deployments(manifests):
    return {deployment["metadata"]["name"] for deployment in of_kind(manifests, "Deployment")}


def _pods(manifests):
    """The labels of each workload's Pods, by the workload's name."""
    return {
        workload["metadata"]["name"]: workload["spec"]["template"]["metadata"]["labels"]
        for workload in of_kind(manifests, "Deployment", "StatefulSet")
    }
