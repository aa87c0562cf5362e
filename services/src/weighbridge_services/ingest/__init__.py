"""The ingest service: it writes the log of a game, or follows and re-verifies the one that the lister writes."""
