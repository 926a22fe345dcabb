"""A Way Back Home: players draw crystals from bags of their own and light six coloured paths from the centre.

Paths begin below zero and pay at their far ends; whoever empties the bag may call the end.
"""

from services.core.title import AnyTitle
from services.titles.a_way_back_home.title import AWayBackHome

VERSIONS: dict[int, AnyTitle] = {1: AWayBackHome()}
