"""Records from repositories of the AT Protocol, verified to the signature."""

from weighbridge_atproto.jetstream import Jetstream, open_jetstream
from weighbridge_atproto.sources import Firehose, Repository, open_firehose, open_repository

__all__ = ["Firehose", "Jetstream", "Repository", "open_firehose", "open_jetstream", "open_repository"]
