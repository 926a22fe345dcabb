"""Tables: where players gather before a match. The same laws as for a match, in streams of their own."""
