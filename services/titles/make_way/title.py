"""Make Way! as the rest of Waystation sees it: the contract of a title, answered by this folder's modules."""

from collections.abc import Mapping

from services.core.chance import Chance
from services.core.title import Outcome
from services.titles.make_way import moves, notation, render, rules
from services.titles.make_way import view as views
from services.titles.make_way.state import State, canonical


class MakeWay:
    """Two seats, hidden hands, luck in the shuffles alone. Rules: seeds/make_way/rules.md."""

    slug: str = "make_way"
    name: str = "Make Way!"
    rules_version: int = 1
    seats: range = range(2, 3)
    takebacks: bool = False
    rules: Mapping[str, str] = rules.RULES

    Options = moves.Options
    Move = moves.Move
    View = views.View

    def check(self, options: moves.Options, seats: int) -> None:
        """All options go together."""

    def setup(self, options: moves.Options, seats: int, chance: Chance) -> State:
        return rules.setup(options, chance)

    def to_act(self, state: State) -> frozenset[int]:
        return rules.to_act(state)

    def legal_moves(self, state: State, seat: int) -> list[moves.Move]:
        return rules.legal_moves(state, seat)

    def apply(self, state: State, seat: int, move: moves.Move, chance: Chance) -> State:
        return rules.apply(state, seat, move, chance)

    def outcome(self, state: State) -> Outcome | None:
        return rules.outcome(state)

    def view(self, state: State, seat: int | None) -> views.View:
        return views.view(state, seat)

    def redact(self, move: moves.Move, by: int, viewer: int | None) -> moves.Move:
        """Every action is made in the open."""
        return move

    def canonical(self, state: State) -> bytes:
        return canonical(state)

    def notation(self, move: moves.Move) -> str:
        return notation.notation(move)

    def parse(self, text: str) -> moves.Move:
        return notation.parse(text)

    def render(self, view: views.View) -> str:
        return render.render(view)
