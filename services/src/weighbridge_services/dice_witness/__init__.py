"""The dice witness: it fetches, verifies and publishes the beacon of every round that a record waits for."""
