"""Waystation's services: a pure core, the titles, the I/O kit, and the processes built from them."""
