"""Writes what lists the titles: their entries in compose.yaml and their folders under k8s/titles.

Every folder of services/titles gets the same files, equal but for its name. `make manifests` writes them;
a test fails when they differ from what this module says.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from deploy.local.system import ROOT, shipped_titles

COMPOSE = Path("deploy/compose.yaml")
K8S = Path("k8s")
_BEGIN, _END = "  # Titles: written by `make manifests`.\n", "# End of titles.\n"

_SERVICE = """\
  rules-{name}:
    <<: *service
    image: ${{IMAGE_PREFIX:-waystation}}/rules-{name}:${{IMAGE_TAG:-{version}}}
"""

_WORKERS = """\
# Workers of the title {slug}. Written by `make manifests`.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../../base/rules]
nameSuffix: -{name}
labels:
  - pairs: {{waystation/title: {name}}}
    includeSelectors: true
images:
  - name: waystation/rules
    newName: waystation/rules-{name}
"""

_LISTING = """\
# Written by `make manifests`.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
"""

_IMAGES = """\
# Where the images come from. Written by `make manifests` (IMAGE_PREFIX=registry/folder IMAGE_TAG=version).
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
images:
"""
_IMAGE = "  - {{name: waystation/{name}, newName: {prefix}/{name}, newTag: {tag}}}\n"

# A part of the title that a component adds, named after the Deployment it belongs to.
_PART = """\
# Written by `make manifests`.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [../../../components/{part}/rules]
nameSuffix: -{name}
labels:
  - pairs: {{waystation/title: {name}}}
    includeSelectors: true
"""
_PART_TARGET = """\
replacements:
  - source: {kind: HorizontalPodAutoscaler, fieldPath: metadata.name}
    targets:
      - select: {kind: HorizontalPodAutoscaler}
        fieldPaths: [spec.scaleTargetRef.name]
"""
PARTS = {
    "autoscaling": _PART + _PART_TARGET.replace("{", "{{").replace("}", "}}"),
    "disruption-budgets": _PART,
}


def dns_name(slug: str) -> str:
    """A slug as DNS, images and Kubernetes take it: "a_way" is "a-way"."""
    return slug.replace("_", "-")


def version() -> str:
    """The version of this tree, and so the tag of its images."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def image_source(environ: Mapping[str, str] = os.environ) -> tuple[str, str]:
    """The prefix and the tag of all images: IMAGE_PREFIX and IMAGE_TAG, or this tree's own."""
    return environ.get("IMAGE_PREFIX") or "waystation", environ.get("IMAGE_TAG") or version()


def files(titles: list[str], compose: str, image_prefix: str, image_tag: str) -> Iterator[tuple[Path, str]]:
    """Every file that lists titles, and its text; `compose` is compose.yaml as it stands."""
    yield COMPOSE, _with_titles(compose, titles)
    yield K8S / "titles" / "kustomization.yaml", _listing(titles)
    images = ["gateway", "lobby", "projection", *(f"rules-{dns_name(slug)}" for slug in titles)]
    lines = [_IMAGE.format(name=name, prefix=image_prefix, tag=image_tag) for name in images]
    yield K8S / "images" / "kustomization.yaml", _IMAGES + "".join(lines)
    for part in PARTS:
        paths = [f"../../../titles/{title}/{part}" for title in titles]
        yield K8S / "components" / part / "titles" / "kustomization.yaml", _listing(paths)
    for slug in titles:
        folder = K8S / "titles" / slug
        yield folder / "kustomization.yaml", _WORKERS.format(slug=slug, name=dns_name(slug))
        for part, text in PARTS.items():
            yield folder / part / "kustomization.yaml", text.format(part=part, name=dns_name(slug))


def _with_titles(compose: str, titles: list[str]) -> str:
    before, _, rest = compose.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    entries = "\n".join(_SERVICE.format(name=dns_name(slug), version=version()) for slug in titles)
    text = f"{before}{_BEGIN}{entries}{_END}{after}"
    return re.sub(r"\$\{IMAGE_TAG:-[^}]*\}", f"${{IMAGE_TAG:-{version()}}}", text)


def _listing(paths: list[str]) -> str:
    return _LISTING + "".join(f"  - {path}\n" for path in paths)


def main() -> None:
    titles = shipped_titles()
    prefix, tag = image_source()
    for path, text in files(titles, (ROOT / COMPOSE).read_text(), prefix, tag):
        where = ROOT / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text)
    for folder in sorted((ROOT / K8S / "titles").iterdir()):
        if folder.is_dir() and folder.name not in titles:
            print(f"manifests: {folder.relative_to(ROOT)} belongs to no title; remove it")


if __name__ == "__main__":
    main()
