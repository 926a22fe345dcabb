"""Every object is what the API servers of three Kubernetes versions take, with no field they do not know."""

import kubernetes_validate
import pytest

from tests.k8s.rendering import COMPONENTS, named

VERSIONS = ("1.35", "1.36", "1.37")
# Defined by KEDA and by the Prometheus operator, not by Kubernetes.
FOREIGN = {
    "ScaledObject": "keda.sh/v1alpha1",
    "PodMonitor": "monitoring.coreos.com/v1",
    "PrometheusRule": "monitoring.coreos.com/v1",
}


@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_is_valid_and_has_no_unknown_field(manifests, version):
    checked = 0
    for manifest in manifests:
        if manifest["kind"] in FOREIGN:
            assert manifest["apiVersion"] == FOREIGN[manifest["kind"]]
            continue
        validated_with = kubernetes_validate.validate(manifest, version, strict=True)
        assert validated_with.startswith(version), f"no schemas of {version} at hand"
        checked += 1
    print(f"{checked} distinct objects are valid in Kubernetes {version}")


def test_the_schemas_refuse_a_misspelt_field(manifests):
    deployment = next(manifest for manifest in manifests if manifest["kind"] == "Deployment")
    wrong = {**deployment, "spec": {**deployment["spec"], "replica": 2}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_every_set_of_components_is_rendered(rendered):
    dev = [name for name in rendered if name.startswith("dev")]
    assert len(dev) == 2 ** len(COMPONENTS)
    print(f"{len(rendered)} variants rendered")


def test_no_variant_says_anything_twice(rendered):
    for variant, manifests in rendered.items():
        names = [named(manifest) for manifest in manifests]
        assert len(names) == len(set(names)), variant
