"""The cross-check: others' statements held against one's own, and what follows when they differ."""
