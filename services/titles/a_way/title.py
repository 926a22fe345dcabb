"""a_way as the contract of a title asks for it."""

from collections.abc import Iterable, Mapping

from services.core.chance import Chance
from services.core.title import Outcome
from services.titles.a_way import moves, notation, refusals, render, rules
from services.titles.a_way import view as views
from services.titles.a_way.components import SLUG
from services.titles.a_way.state import State, canonical


class AWay:
    """Stateless; see the modules that its methods name."""

    slug: str = SLUG
    name: str = "a_way"
    rules_version: int = 1
    seats: range = range(2, 5)
    takebacks: bool = False
    rules: Mapping[str, str] = refusals.RULES

    Options = moves.Options
    Move = moves.Move
    View = views.View

    def check(self, options: moves.Options, seats: int) -> None:
        rules.check(options, seats)

    def setup(self, options: moves.Options, seats: int, chance: Chance) -> State:
        return rules.setup(options, seats, chance)

    def to_act(self, state: State) -> frozenset[int]:
        return rules.to_act(state)

    def legal_moves(self, state: State, seat: int) -> Iterable[moves.Move]:
        return rules.legal_moves(state, seat)

    def apply(self, state: State, seat: int, move: moves.Move, chance: Chance) -> State:
        return rules.apply(state, move, chance)

    def outcome(self, state: State) -> Outcome | None:
        return rules.outcome(state)

    def view(self, state: State, seat: int | None) -> views.View:
        return views.view(state, seat)

    def redact(self, move: moves.Move, by: int, viewer: int | None) -> moves.Move | None:
        return views.redact(move, by, viewer)

    def canonical(self, state: State) -> bytes:
        return canonical(state)

    def notation(self, move: moves.Move) -> str:
        return notation.notation(move)

    def parse(self, text: str) -> moves.Move:
        return notation.parse(text)

    def render(self, view: views.View) -> str:
        return render.render(view)
