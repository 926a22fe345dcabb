"""The manifests as kubectl renders them: every overlay, with every combination of components."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
KUBECTL = ROOT / ".cache" / "kubectl" / "kubectl"
K8S = ROOT / "k8s"
COMPONENTS = sorted(folder.name for folder in (K8S / "components").iterdir())

Manifest = dict[str, Any]


@cache
def render(folder: Path) -> list[Manifest]:
    """The objects of one kustomization. Raises AssertionError with what kubectl says."""
    done = subprocess.run([KUBECTL, "kustomize", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "deprecated" not in done.stderr, done.stderr
    return list(yaml.load_all(done.stdout, yaml.CSafeLoader))  # libyaml: ten times as fast


def overlay(name: str) -> list[Manifest]:
    return render(K8S / "overlays" / name)


def variants(copy: Path) -> dict[str, list[Manifest]]:
    """Each overlay with each set of components that it does not have, rendered in a copy of k8s/."""
    shutil.copytree(K8S, copy / "k8s")
    folders = [
        _variant(copy / "k8s" / "variants", overlay.name, chosen)
        for overlay in sorted((K8S / "overlays").iterdir())
        for chosen in _choices(overlay)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        rendered = list(threads.map(render, folders))
    return dict(zip((folder.name for folder in folders), rendered, strict=True))


def _choices(overlay: Path) -> Iterator[tuple[str, ...]]:
    has = yaml.safe_load((overlay / "kustomization.yaml").read_text()).get("components", [])
    lacking = [name for name in COMPONENTS if f"../../components/{name}" not in has]
    return chain.from_iterable(combinations(lacking, n) for n in range(len(lacking) + 1))


def _variant(parent: Path, overlay: str, components: tuple[str, ...]) -> Path:
    """The folder of a kustomization that adds `components`; its name says so."""
    folder = parent / "+".join((overlay, *components))
    folder.mkdir(parents=True)
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [f"../../overlays/{overlay}"],
        "components": [f"../../components/{part}" for part in components],
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    return folder


def distinct(rendered: dict[str, list[Manifest]]) -> list[Manifest]:
    """All objects of all variants, each text once."""
    texts = {
        json.dumps(manifest, sort_keys=True) for manifests in rendered.values() for manifest in manifests
    }
    return [json.loads(text) for text in sorted(texts)]


def of_kind(manifests: list[Manifest], *kinds: str) -> list[Manifest]:
    return [manifest for manifest in manifests if manifest["kind"] in kinds]


def named(manifest: Manifest) -> str:
    return f"{manifest['kind']} {manifest['metadata']['name']}"


def pod(workload: Manifest) -> Manifest:
    """The Pod template's spec of a Deployment or StatefulSet."""
    found: Manifest = workload["spec"]["template"]["spec"]
    return found


def selects(selector: Manifest, labels: dict[str, str]) -> bool:
    """Whether a label selector with matchLabels and In-expressions takes a Pod with `labels`."""
    equal = selector.get("matchLabels", {}).items() <= labels.items()
    return equal and all(
        expression["operator"] == "In" and labels.get(expression["key"]) in expression["values"]
        for expression in selector.get("matchExpressions", [])
    )
