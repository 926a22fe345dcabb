"""Measurements. Nothing here asserts a time; figures go to the terminal and to JSON."""
