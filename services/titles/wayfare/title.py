"""Wayfare as a title: each answer in one line, found in the module named by it."""

from collections.abc import Mapping

from services.core.chance import Chance
from services.core.title import Outcome

from . import moves, notation, refusals, render, rules, scoring
from . import view as views
from .state import State, canonical


class Wayfare:
    """Two seats, White and Black; no luck, nothing hidden."""

    slug: str = "wayfare"
    name: str = "Wayfare"
    rules_version: int = 1
    seats: range = range(2, 3)
    takebacks: bool = True
    rules: Mapping[str, str] = refusals.RULES

    Options = moves.Options
    Move = moves.Move
    View = views.View

    def check(self, options: moves.Options, seats: int) -> None:
        """Every size goes with every comparison."""

    def setup(self, options: moves.Options, seats: int, chance: Chance) -> State:
        return rules.setup(options)

    def to_act(self, state: State) -> frozenset[int]:
        return frozenset() if state.turn is None else frozenset((state.turn,))

    def legal_moves(self, state: State, seat: int) -> list[moves.Move]:
        return rules.legal_moves(state, seat)

    def apply(self, state: State, seat: int, move: moves.Move, chance: Chance) -> State:
        return rules.apply(state, seat, move)

    def outcome(self, state: State) -> Outcome | None:
        return scoring.outcome(state)

    def view(self, state: State, seat: int | None) -> views.View:
        return views.view(state)

    def redact(self, move: moves.Move, by: int, viewer: int | None) -> moves.Move | None:
        return move

    def canonical(self, state: State) -> bytes:
        return canonical(state)

    def notation(self, move: moves.Move) -> str:
        return notation.notation(move)

    def parse(self, text: str) -> moves.Move:
        return notation.parse(text)

    def render(self, view: views.View) -> str:
        return render.render(view)
