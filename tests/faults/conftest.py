"""What the tests of this folder talk to their systems with; each module starts the one that it needs."""

from tests.e2e.serving import site, store

__all__ = ["site", "store"]
