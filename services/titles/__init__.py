"""One folder per title, all of the same shape. A title imports `services.core` and nothing else of ours."""
