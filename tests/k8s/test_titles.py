"""What lists the titles is what the tree holds, and one title's manifests are another's but for the name."""

import json

import yaml

from deploy.local.system import shipped_titles
from deploy.manifests import COMPOSE, K8S, dns_name, files, image_source, version
from tests.k8s.rendering import ROOT, overlay, render


def test_the_written_files_are_what_make_manifests_writes():
    compose = (ROOT / COMPOSE).read_text()
    for path, text in files(shipped_titles(), compose, *image_source()):
        assert (ROOT / path).read_text() == text, f"{path} is stale: run `make manifests`"


def test_images_are_named_as_the_environment_says_and_else_as_the_tree():
    assert image_source({"IMAGE_PREFIX": "registry.example/w", "IMAGE_TAG": "7"}) == (
        "registry.example/w",
        "7",
    )
    assert image_source({"IMAGE_PREFIX": ""}) == ("waystation", version())


def test_compose_starts_the_version_of_the_tree():
    stale = (ROOT / COMPOSE).read_text().replace(version(), "0.0.0-stale")
    (text,) = (text for path, text in files(shipped_titles(), stale, "waystation", "7") if path == COMPOSE)
    assert text == (ROOT / COMPOSE).read_text()


def test_no_manifests_are_left_of_a_title_that_is_gone():
    folders = {path.name for path in (ROOT / K8S / "titles").iterdir() if path.is_dir()}
    assert folders == set(shipped_titles())


def test_all_titles_render_alike_but_for_the_name():
    texts = {}
    for slug in shipped_titles():
        for part in ("", "autoscaling", "disruption-budgets"):
            rendered = json.dumps(render(ROOT / K8S / "titles" / slug / part), sort_keys=True)
            assert dns_name(slug) in rendered
            texts.setdefault(part, set()).add(
                rendered.replace(f'-{dns_name(slug)}"', '-X"').replace(f'"{dns_name(slug)}"', '"X"')
            )
    assert {part: len(alike) for part, alike in texts.items()} == dict.fromkeys(texts, 1)


def test_every_title_has_a_deployment_with_an_image_of_its_own():
    images = {
        manifest["metadata"]["name"]: manifest["spec"]["template"]["spec"]["containers"][0]["image"]
        for manifest in overlay("dev")
        if manifest["kind"] == "Deployment"
    }
    for slug in shipped_titles():
        name = f"rules-{dns_name(slug)}"
        prefix, tag = image_source()
        assert images[name] == f"{prefix}/{name}:{tag}"


def test_compose_starts_the_same_services_from_the_same_images():
    composed = yaml.safe_load((ROOT / COMPOSE).read_text())["services"]
    prefix, tag = image_source()
    ours = {
        name: service["image"]
        .replace("${IMAGE_PREFIX:-waystation}", prefix)
        .replace(f"${{IMAGE_TAG:-{version()}}}", tag)
        for name, service in composed.items()
        if "profiles" not in service
    }
    rendered = {
        manifest["metadata"]["name"]: manifest["spec"]["template"]["spec"]["containers"][0]["image"]
        for manifest in overlay("dev")
        if manifest["kind"] in ("Deployment", "StatefulSet")
    }
    assert ours == rendered
