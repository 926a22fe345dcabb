"""The table as four lines of text."""

from .view import View


def render(view: View) -> str:
    heading = f"round {view.round}, seat {view.turn} to play"
    return f"{heading}\ntable {view.shown}\nhand {view.hand}\npoints {view.points}"
