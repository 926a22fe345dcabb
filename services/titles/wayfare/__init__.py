"""Wayfare: two colours pass over each other's guides, and every guide passed becomes an adventurer.

When nobody can move, the colour whose adventurer stands nearest the centre wins.
"""

from services.core.title import AnyTitle

from .title import Wayfare

VERSIONS: dict[int, AnyTitle] = {1: Wayfare()}
