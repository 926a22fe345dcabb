"""a_way: two to four players race ships to the far side of a map of cards, which they change as they go.

Each turn is one main action (fly, play cards of one faction, or discard), then a flight for who wants it.
"""

from services.core.title import AnyTitle
from services.titles.a_way.title import AWay

VERSIONS: dict[int, AnyTitle] = {1: AWay()}
