"""A rules worker with a planted leak: one small object of each match is kept. It proves the bound."""

from services.core.match import Match
from services.kit.process import run
from services.rules.__main__ import RulesSettings, main
from services.rules.shelf import Shelf

_kept: dict[str, int] = {}
_keep = Shelf.keep


def _keep_and_leak(shelf: Shelf, match: Match) -> None:
    _kept[match.id] = match.at
    _keep(shelf, match)


if __name__ == "__main__":
    Shelf.keep = _keep_and_leak  # type: ignore[method-assign]
    run("rules", main, RulesSettings)
