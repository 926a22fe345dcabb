"""The HTTP surface, one resource a file."""
