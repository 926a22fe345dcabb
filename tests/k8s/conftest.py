"""Everything rendered once for the tests of this folder."""

import os
from pathlib import Path

import pytest

from tests.k8s.rendering import KUBECTL, Manifest, distinct, variants

RENDERING_S_MAX = 900  # of all variants, on a machine that does other things as well


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whichever test comes first waits until everything is rendered."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(RENDERING_S_MAX))


@pytest.fixture(scope="session")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Manifest]]:
    """The objects of every variant, by the variant's name."""
    if not KUBECTL.is_file():
        why = f"no kubectl at {KUBECTL}: run deploy/kubectl.sh"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(why)
    return variants(tmp_path_factory.mktemp("variants"))


@pytest.fixture(scope="session")
def manifests(rendered: dict[str, list[Manifest]]) -> list[Manifest]:
    """The distinct objects of all variants."""
    return distinct(rendered)
