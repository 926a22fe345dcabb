"""High Card as a title: a table of contents of its folder."""

from collections.abc import Mapping
from typing import ClassVar

from services.core.chance import Chance
from services.core.errors import OptionInvalid
from services.core.title import Outcome

from . import notation, render, rules, state
from . import view as views
from .moves import Options, Play


class HighCard:
    slug = "high_card"
    name = "High Card"
    rules_version = 1
    seats = range(2, 5)
    takebacks = False
    rules: ClassVar[Mapping[str, str]] = rules.RULES
    Options = Options
    Move = Play
    View = views.View

    def check(self, options: Options, seats: int) -> None:
        if options.rounds == 8 and seats == 4:
            raise OptionInvalid("rounds", "8 rounds are too long for four")

    def setup(self, options: Options, seats: int, chance: Chance) -> state.State:
        return rules.setup(options, seats, chance)

    def to_act(self, position: state.State) -> frozenset[int]:
        return rules.to_act(position)

    def legal_moves(self, position: state.State, seat: int) -> list[Play]:
        return rules.legal_moves(position, seat)

    def apply(self, position: state.State, seat: int, move: Play, chance: Chance) -> state.State:
        return rules.apply(position, seat, move, chance)

    def outcome(self, position: state.State) -> Outcome | None:
        return rules.outcome(position)

    def view(self, position: state.State, seat: int | None) -> views.View:
        return views.view(position, seat)

    def redact(self, move: Play, by: int, viewer: int | None) -> Play | None:
        return move

    def canonical(self, position: state.State) -> bytes:
        return state.canonical(position)

    def notation(self, move: Play) -> str:
        return notation.notation(move)

    def parse(self, text: str) -> Play:
        return notation.parse(text)

    def render(self, shown: views.View) -> str:
        return render.render(shown)
