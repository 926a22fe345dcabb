"""Matches as they happen: what the workers push, in order and without gaps, to sockets and event streams."""
