"""The trace checker: a witness's word on what records point at."""
