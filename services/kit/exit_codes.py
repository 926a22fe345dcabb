"""With which code a command ends, where that says more than that it failed (1)."""

MISUSED = 2
INTERRUPTED = 130  # as a shell says it of a program that SIGINT ended
UNREAD = 141  # the same of SIGPIPE: whoever was to read the output has gone
