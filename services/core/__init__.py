"""The functional core: no clock, no random source, no I/O. Imports nothing else of ours."""
