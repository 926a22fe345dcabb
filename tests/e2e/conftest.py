"""The whole system as real processes, for the tests of this folder."""

from collections.abc import Iterator

import pytest

from deploy.local.system import System
from tests.e2e.serving import UNLIMITED, serving, site, store

__all__ = ["UNLIMITED", "site", "store", "system"]


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """Two workers of each of two titles, two gateways."""
    with serving(tmp_path_factory.mktemp("system"), {"wayfare": 2, "make_way": 2}, gateways=2) as running:
        yield running
