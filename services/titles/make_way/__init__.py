"""Make Way!, a race on six lanes: each card names the lane in which the moved piece must end.

Two players enter, advance, shift and push pieces; at the end a piece scores the free run behind it.
"""

from services.core.title import AnyTitle
from services.titles.make_way.title import MakeWay

VERSIONS: dict[int, AnyTitle] = {1: MakeWay()}
