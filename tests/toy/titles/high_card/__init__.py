"""High Card, a toy: everybody plays a card a round; the highest takes a point. Hidden hands, and luck.

It is here to test what holds for every title, with a title that nobody ships.
"""

from services.core.title import AnyTitle

from .title import HighCard

VERSIONS: dict[int, AnyTitle] = {1: HighCard()}
