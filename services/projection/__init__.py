"""Read models: which matches there are, who plays them, how they ended. Rebuilt from the streams at will."""
